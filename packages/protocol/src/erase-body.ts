import { eraseSettings, withoutContent } from './content-settings.ts'
import type { Part } from './message.ts'
import type { RecordBody } from './record.ts'

const ERASED = { erased: true } as const

/**
 * Returns a record's body without what people or agents said in it. Its structure stays, so that the log still folds.
 * Configuration (mode, rules, settings) is no content and stays too. Title, goal and the user's state are content; of
 * the state only the names of its keys are left.
 */
export function eraseBody(body: RecordBody): RecordBody {
  switch (body.type) {
    case 'text-delta':
    case 'reasoning-delta':
      return { type: body.type, messageId: body.messageId, partId: body.partId, text: '', meta: ERASED }
    case 'file':
      return {
        type: 'file',
        messageId: body.messageId,
        partId: body.partId,
        mimeType: body.mimeType,
        data: '',
        meta: ERASED,
      }
    case 'tool-call':
      return {
        type: 'tool-call',
        messageId: body.messageId,
        partId: body.partId,
        toolCallId: body.toolCallId,
        toolName: body.toolName,
        args: {},
        meta: ERASED,
      }
    case 'tool-result':
      return {
        type: 'tool-result',
        messageId: body.messageId,
        partId: body.partId,
        toolCallId: body.toolCallId,
        toolName: body.toolName,
        result: null,
        ...(body.isError === undefined ? {} : { isError: body.isError }),
        ...(body.call === undefined ? {} : { call: body.call }),
        ...(body.outcome === undefined ? {} : { outcome: body.outcome }),
        meta: ERASED,
      }
    case 'batch':
      return { type: 'batch', event: eraseBatch(body.event) }
    case 'message.added':
      return { ...body, parts: body.parts.map(erasePart), meta: ERASED }
    case 'message.ended': {
      const { error: _error, ...rest } = body
      return rest
    }
    case 'error':
      return { type: 'error', error: { name: body.error.name, message: '' }, meta: ERASED }
    case 'run.started': {
      const { requestContext: _context, turn: _turn, ...rest } = body
      return rest
    }
    case 'run.ended': {
      const { error: _error, output: _output, ...rest } = body
      return rest
    }
    case 'step.started': {
      const { request: _request, ...rest } = body
      return rest
    }
    case 'step.ended': {
      const { error: _error, ...rest } = body
      return rest
    }
    case 'wait.opened':
      return {
        type: body.type,
        ...(body.call === undefined ? {} : { call: body.call }),
        wait: {
          id: body.wait.id,
          kind: body.wait.kind,
          description: '',
          subject: {
            ...(body.wait.subject.hash === undefined ? {} : { hash: body.wait.subject.hash }),
            ...(body.wait.subject.judgedAs === undefined ? {} : { judgedAs: body.wait.subject.judgedAs }),
          },
          ...(body.wait.interrupted === undefined ? {} : { interrupted: true }),
        },
      }
    case 'wait.answered':
      return { ...body, answer: { decision: body.answer.decision } }
    case 'queue.added':
      return { ...body, item: { id: body.item.id, lane: body.item.lane, parts: [] } }
    case 'tasks.changed':
      return { ...body, tasks: [] }
    case 'rewind':
      return { ...body, tasks: [] }
    case 'fork':
      return { ...body, keep: { ...body.keep, tasks: [], settings: withoutContent(body.keep.settings) } }
    case 'checkpoint.made':
      return { ...body, root: '', files: [] }
    case 'config.changed': {
      const { title, goal, settings, state, ...rest } = body
      return {
        ...rest,
        ...(title === undefined ? {} : { title: null }),
        ...(goal === undefined ? {} : { goal: null }),
        ...(settings === undefined ? {} : { settings: eraseSettings(settings) }),
        ...(state === undefined ? {} : { state: Object.fromEntries(Object.keys(state).map((key) => [key, null])) }),
      }
    }
    case 'compaction': {
      const { preview: _preview, ...summary } = body.summary
      return { ...body, summary }
    }
    case 'note':
      return { type: 'note', kind: body.kind, text: '' }
    case 'message.started':
    case 'run.resumed':
    case 'run.parked':
    case 'run.cancelled':
    case 'turn.started':
    case 'turn.process':
    case 'turn.ended':
    case 'call.started':
    case 'wait.cancelled':
    case 'wait.superseded':
    case 'queue.removed':
    case 'queue.held':
    case 'binding.changed':
    case 'binding.removed':
    case 'erased':
    case 'om.committed':
    case 'context.cut':
    case 'child.started':
    case 'child.ended':
      return body
  }
}

function eraseBatch(event: Extract<RecordBody, { type: 'batch' }>['event']): typeof event {
  const address = { messageId: event.messageId, partId: event.partId, meta: ERASED }
  switch (event.type) {
    case 'text-delta':
    case 'reasoning-delta':
      return { ...address, type: event.type, text: '' }
    case 'tool-call-delta':
      return { ...address, type: event.type, toolCallId: event.toolCallId, argsTextDelta: '' }
    case 'tool-progress':
      return { ...address, type: event.type, toolCallId: event.toolCallId, toolName: event.toolName }
  }
}

function erasePart(part: Part): Part {
  return { id: part.id, type: 'text', text: '', meta: ERASED }
}
