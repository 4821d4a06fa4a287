import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { HarnessEventType } from '@inspan/protocol/harness'
import * as plays from './event-plays.fixture.ts'

type Types = readonly HarnessEventType[]

const types = (...all: readonly (HarnessEventType | Types)[]): Types => all.flat()

const user = types('message_start', 'message_end')
const text = types('text', 'message_update')
const says = (...pieces: readonly (HarnessEventType | Types)[]): Types =>
  types('message_start', ...pieces, 'usage_update', 'message_end')
const input = types('tool_input_start', 'tool_input_delta', 'tool_input_end')
const calls = types('message_start', input, 'tool_call', 'tool_start', 'message_update', 'usage_update')
const ends = types('tool_result', 'tool_end', 'message_update', 'message_end')
const signal = (type: HarnessEventType): Types => types('message_start', type, 'message_end')
const answered = types(says(text), 'agent_end')
const called = types('thread_created', 'agent_start', user, calls)

const WHOLE: readonly (readonly [what: string, play: plays.Play, told: Types])[] = [
  ['an answer', plays.answer, types('agent_start', user, says('thinking', 'message_update', text, text), 'agent_end')],
  ['a call', plays.tool, types(called, 'tool_update', ends, answered)],
  ['an approval', plays.approval, types(called, 'tool_approval_required', ends, answered)],
  ['a question', plays.suspension, types(called, 'tool_suspended', 'agent_end')],
  ['a failure', plays.failure, types('thread_created', 'agent_start', user, 'error', 'agent_end')],
  [
    'files',
    plays.files,
    types('thread_created', 'agent_start', 'message_start', 'image', 'file', 'message_end', answered),
  ],
  ['a change of mode', plays.modes, ['thread_created', 'mode_changed', 'model_changed']],
  ['threads', plays.threads, ['thread_created', 'thread_created', 'thread_changed', 'thread_deleted']],
  ['changes of the state', plays.state, ['state_changed', 'state_changed']],
  [
    'a message that is queued',
    plays.followUp,
    types(
      types(called, 'tool_approval_required', 'follow_up_queued', ends, answered),
      types('follow_up_queued', 'agent_start', user, answered),
    ),
  ],
  [
    'a message that is heard at work',
    plays.steering,
    types(called, 'tool_approval_required', 'info', ends, user, answered),
  ],
  ['tasks', plays.tasks, types(called, 'task_updated', signal('state_signal'), ends, answered)],
  [
    'signals',
    plays.signals,
    types(
      types(signal('system_reminder'), signal('state_signal'), signal('reactive_signal')),
      types('notification', signal('notification_summary'), 'agent_start', user, answered),
    ),
  ],
  [
    'a goal',
    plays.goal,
    types(
      types('thread_created', signal('state_signal'), 'agent_start', user, answered),
      types('goal_evaluation', 'goal_evaluation'),
    ),
  ],
]

suite('no further event, none twice, and all in one order', () => {
  for (const [what, play, told] of WHOLE) {
    test(what, async () => {
      await using bench = await play()
      assert.deepEqual(bench.types(), told)
      // A message that is added while another is being said comes between its start and end.
      const open: string[] = []
      const began = new Map<string, Date>()
      for (const event of bench.events) {
        if (event.type === 'message_start') {
          open.push(event.message.id)
          began.set(event.message.id, event.message.createdAt)
        }
        if ('message' in event && typeof event.message === 'object') {
          assert.equal(event.message.id, open.at(-1), event.type)
          assert.deepEqual(event.message.createdAt, began.get(event.message.id), event.type)
        }
        if ('messageId' in event) assert.equal(event.messageId, open.at(-1), event.type)
        if (event.type === 'message_end') open.pop()
      }
    })
  }
})
