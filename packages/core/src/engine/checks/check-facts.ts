import { InspanError, type TaskItem } from '@inspan/protocol'
import {
  anObject,
  aNumber,
  aText,
  checkFields,
  checkTurnDefaults,
  listOf,
  oneOf,
  words,
  type FieldRules,
} from '@inspan/protocol/internal'
import type { QueueItem } from '@inspan/protocol/log'
import { checkParts } from './check-submission.ts'
import type { ControlFact } from '../thread-options.ts'

type Fact<Type extends ControlFact['type']> = Extract<ControlFact, { type: Type }>

const A_LIST = listOf(anObject, 'objects')

const MESSAGE: FieldRules<Fact<'message.added'>> = {
  messageId: aText,
  role: oneOf('system', 'user', 'assistant', 'tool'),
  parts: A_LIST,
  createdAt: aNumber,
  by: words,
}

const ITEM: FieldRules<QueueItem> = {
  id: aText,
  lane: oneOf('follow-up', 'steer'),
  parts: A_LIST,
  by: words,
  agentId: aText,
  messageId: aText,
  requestContext: anObject,
}

const REMOVED: FieldRules<Fact<'queue.removed'>> = { itemId: aText, reason: oneOf('heard', 'sent', 'dropped') }

const TASK: FieldRules<TaskItem> = {
  id: aText,
  content: words,
  status: oneOf('pending', 'in_progress', 'completed'),
  activeForm: words,
}

const NOTE: FieldRules<Fact<'note'>> = {
  kind: oneOf('info', 'warning', 'handover', 'policy-violation', 'receipt', 'budget', 'limit', 'score', 'feedback'),
  text: words,
  data: anObject,
}

const CHECKS: { readonly [Type in ControlFact['type']]: (fact: Fact<Type>) => void } = {
  'message.added': (fact) => {
    checkFields('a message', fact, MESSAGE, ['messageId', 'role', 'parts'])
    checkParts(fact.parts)
  },
  'queue.added': (fact) => {
    checkFields('what is queued', fact, { item: anObject }, ['item'])
    checkFields('a queued item', fact.item, ITEM, ['id', 'lane', 'parts'])
    checkParts(fact.item.parts)
    checkTurnDefaults('the turn of a queued item', fact.item.turn)
  },
  'queue.removed': (fact) => checkFields('what leaves the queue', fact, REMOVED, ['itemId', 'reason']),
  'tasks.changed': (fact) => {
    checkFields('a change of tasks', fact, { tasks: A_LIST }, ['tasks'])
    for (const task of fact.tasks) checkFields('a task', task, TASK, ['id', 'content', 'status', 'activeForm'])
  },
  // Checked by `ThreadPolicy`, because it applies before it is written.
  'config.changed': () => undefined,
  note: (fact) => checkFields('a note', fact, NOTE, ['kind', 'text']),
}

const TYPES = Object.keys(CHECKS)

/** Throws if something is not a fact, or not one that an application may record. */
export function checkFacts(facts: readonly ControlFact[]): void {
  if (!Array.isArray(facts)) {
    throw new InspanError('invalid-input', 'What is to be recorded has to be a list of facts.', {
      hint: 'Write record([fact]).',
    })
  }
  for (const fact of facts as readonly ControlFact[]) {
    checkFields('a fact', fact, { type: oneOf(...TYPES) }, ['type'])
    const check = CHECKS[fact.type] as (fact: ControlFact) => void
    check(fact)
  }
}
