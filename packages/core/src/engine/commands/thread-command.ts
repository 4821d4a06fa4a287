import { InspanError, type Answer, type JsonValue, type Part, type Wait, type WaitKind } from '@inspan/protocol'
import type { CommandBase, Command, CommandAttachment, WireEffort } from '@inspan/protocol/wire'
import type { TurnDefaults } from '@inspan/protocol/driver'
import type { QueueAddedRecord, QueuedItem, ThreadState } from '@inspan/protocol/log'
import { withoutGrants } from '../rules/resource-grants.ts'
import type { ConfigChange, Submission, ThreadRuntimeOptions } from '../thread-options.ts'

/** A message as an application in this process gives it: with its agent, parts and settings. */
export interface SubmissionCommand extends CommandBase {
  readonly type: 'submit' | 'steer' | 'follow-up'
  readonly submission: Submission
}

/** A change of any part of the config, also of those that clients cannot set. */
export interface ConfigChangeCommand extends CommandBase {
  readonly type: 'configure'
  readonly change: ConfigChange
  /** The `doorKey` or name of the door that makes it. Default: the door of the open run, or else the first. */
  readonly door?: string
}

/** The answer to any wait, also to one that no person answers. */
export interface GivenAnswerCommand extends CommandBase {
  readonly type: 'answer'
  readonly waitId: string
  readonly answer: Answer
  /** Who answers. Default: the principal of the key. */
  readonly by?: string
}

/** Everything a user can do to a thread: what clients send, and the same with more detail from this process. */
export type ThreadCommand = Command | SubmissionCommand | ConfigChangeCommand | GivenAnswerCommand

type MessageCommand = Extract<ThreadCommand, { type: 'submit' | 'steer' | 'follow-up' }>

/** Returns the message of a command with the agent that gets it: the thread's, or the only one there is. */
export function submissionOf(command: MessageCommand, state: ThreadState, options: ThreadRuntimeOptions): Submission {
  if ('submission' in command) return command.submission
  const text = command.type === 'submit' ? command.prompt : command.message
  const { attachments = [] } = command as { attachments?: readonly CommandAttachment[] }
  const turn = turnOf(state)
  return {
    agentId: agentOf(state, options),
    parts: [...(text === '' ? [] : [textPart(text)]), ...attachments.map(attachedPart)],
    ...(turn === undefined ? {} : { turn }),
  }
}

export function textPart(text: string): Part {
  return { id: '0', type: 'text', text }
}

function attachedPart({ data, fileName, mimeType }: CommandAttachment, index: number): Part {
  const type = mimeType.startsWith('image/') ? 'image' : 'file'
  return { id: `a${index}`, type, mimeType, data, ...(fileName === undefined ? {} : { fileName }) }
}

function agentOf(state: ThreadState, { agentOfQueued, agents }: ThreadRuntimeOptions): string {
  const known = typeof agents === 'function' ? [] : Object.keys(agents)
  const agentId = agentOfQueued?.(state) ?? state.head.agentId ?? (known.length === 1 ? known[0] : undefined)
  if (agentId !== undefined) return agentId
  const hint = 'Choose one with a `configure` command.'
  throw new InspanError('invalid-input', `Thread ${state.head.stream} has no agent of its own.`, { hint })
}

/** Settings of a thread that `configure` sets and every later message follows. */
const MAX_TURNS = 'maxTurns'
const SYSTEM_PROMPT = 'systemPrompt'
const EFFORT = 'effort'
const PERMISSION_MODE = 'permissionMode'
function turnOf({ head }: ThreadState): TurnDefaults | undefined {
  const maxSteps = head.settings.get(MAX_TURNS)
  const instructions = head.settings.get(SYSTEM_PROMPT)
  const effort = head.settings.get(EFFORT)
  const turn: TurnDefaults = {
    ...(typeof maxSteps === 'number' ? { maxSteps } : {}),
    ...(typeof instructions === 'string' ? { instructions } : {}),
    ...(typeof effort === 'string' ? { effort: effort as WireEffort } : {}),
  }
  return Object.keys(turn).length === 0 ? undefined : turn
}

export type Configuring = Extract<ThreadCommand, { type: 'configure' | 'mode' | 'model' | 'rename' | 'revoke' }>

/** Returns the change of config that a command makes in this state. */
export function changeOf(command: Configuring, { head }: ThreadState): ConfigChange {
  switch (command.type) {
    case 'mode':
      return { mode: command.mode }
    case 'model':
      return { model: command.model }
    case 'rename':
      return { title: command.title }
    case 'revoke':
      return { grants: withoutGrants(head.grants, command) }
    case 'configure': {
      if ('change' in command) return command.change
      const { agent, effort, maxTurns, mode, model, permissionMode, systemPrompt } = command.config
      const settings = {
        ...(effort === undefined ? {} : { [EFFORT]: effort }),
        ...(maxTurns === undefined ? {} : { [MAX_TURNS]: maxTurns }),
        ...(systemPrompt === undefined ? {} : { [SYSTEM_PROMPT]: systemPrompt }),
        ...(permissionMode === undefined ? {} : { [PERMISSION_MODE]: permissionMode }),
      }
      return {
        ...(agent === undefined ? {} : { agentId: agent }),
        ...(mode === undefined ? {} : { mode }),
        ...(model === undefined ? {} : { model }),
        ...(permissionMode === undefined ? {} : permissionChange(permissionMode, head.rules)),
        ...(Object.keys(settings).length === 0 ? {} : { settings }),
      }
    }
  }
}

function permissionChange(
  mode: 'default' | 'acceptEdits' | 'fullAuto',
  rules: ThreadState['head']['rules'],
): Pick<ConfigChange, 'rules' | 'yolo'> {
  const { edit, ...others } = rules.categories
  // A deny stays whatever the level: it is a rule of its own.
  const isDenied = edit === 'deny'
  const categories = isDenied
    ? rules.categories
    : mode === 'acceptEdits'
      ? { ...others, edit: 'allow' as const }
      : others
  return { yolo: mode === 'fullAuto', rules: { ...rules, categories } }
}

type AnsweringCommand = Extract<ThreadCommand, { type: 'answer' | 'approve' | 'deny' }>

/** Returns the id of the wait that a command answers. Clients name an approval by its call. */
export function waitIdOf(command: AnsweringCommand, { head }: ThreadState): string {
  if (command.type === 'answer') return command.waitId
  const { toolCallId } = command
  if (head.waits.has(toolCallId)) return toolCallId
  const [found, ...others] = [...head.waits].filter(({ subject }) => subject.toolCallId === toolCallId)
  if (others.length === 0) return found?.id ?? toolCallId
  throw new InspanError('misuse', `More than one call with the id "${toolCallId}" waits.`, {
    hint: `Give the id of the wait: ${[found, ...others].map((wait) => wait?.id).join(', ')}.`,
  })
}

/** What a plain yes means where there is nothing to choose. Other questions need an answer of their own. */
const YES: Readonly<Partial<Record<WaitKind, JsonValue>>> = { plan: { action: 'approved' }, access: true }

export function answerOf(command: AnsweringCommand, wait: Wait): Answer {
  switch (command.type) {
    case 'deny':
      return { decision: 'decline', ...(command.reason === undefined ? {} : { reason: command.reason }) }
    case 'approve': {
      const { answer = YES[wait.kind], remember, scope } = command
      if (wait.kind !== 'approval' && answer === undefined) {
        throw new InspanError('invalid-input', `"${wait.description}" needs an answer, not only a yes.`, {
          details: { reason: 'answer-needed', waitId: wait.id },
        })
      }
      return {
        decision: wait.kind === 'approval' ? 'approve' : 'answer',
        ...(answer === undefined ? {} : { value: answer }),
        ...(remember === undefined ? {} : { remember }),
        ...(scope === undefined ? {} : { scope }),
      }
    }
    case 'answer': {
      if ('answer' in command) return command.answer
      const { decision, reason, remember, scope, value } = command
      return {
        decision,
        ...(value === undefined ? {} : { value }),
        ...(reason === undefined ? {} : { reason }),
        ...(remember === undefined ? {} : { remember }),
        ...(scope === undefined ? {} : { scope }),
      }
    }
  }
}

type Queueing = Extract<ThreadCommand, { type: 'queue-edit' | 'queue-move' | 'queue-remove' }>

/**
 * Returns the queue as a command changes it: an item that is added again moves to the end, so everything from the first
 * changed place on is added again in its new order.
 */
export function reordered(
  command: Exclude<Queueing, { type: 'queue-remove' }>,
  { head }: ThreadState,
): QueueAddedRecord[] {
  const items = [...head.queue]
  const item = queuedItem(command.itemId, head)
  let changed: QueuedItem[]
  if (command.type === 'queue-edit') {
    changed = items.map((each) => (each === item ? { ...item, parts: [textPart(command.message)] } : each))
  } else {
    const others = items.filter((each) => each !== item)
    const place = command.before === null ? others.length : others.indexOf(queuedItem(command.before, head))
    changed = [...others.slice(0, place), item, ...others.slice(place)]
  }
  const first = changed.findIndex((each, index) => each !== items[index])
  if (first < 0) return []
  return changed
    .slice(first)
    .map(({ addedAt: _addedAt, front: _front, ...kept }) => ({ type: 'queue.added', item: kept }))
}

export function queuedItem(itemId: string, { queue, stream }: ThreadState['head']): QueuedItem {
  const item = queue.get(itemId)
  if (item !== undefined && item.lane !== 'hand-off') return item
  throw new InspanError('not-found', `Thread ${stream} has no queued message "${itemId}".`, {
    hint: 'It may have been sent or removed a moment ago.',
  })
}
