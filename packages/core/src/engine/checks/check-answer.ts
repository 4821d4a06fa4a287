import { checkAgainst, schemaProblems } from '@inspan/agent'
import { InspanError, type Answer, type JsonObject, type Wait } from '@inspan/protocol'
import { assertJson } from './assert-json.ts'

const DECISIONS = new Set<unknown>(['approve', 'decline', 'answer'])
const REMEMBERED = new Set<unknown>(['tool', 'category'])
const SCOPES = new Set<unknown>(['thread', 'resource'])

/** Throws if this does not answer the wait, before the answer is accepted. The wait stays open. */
export function checkAnswer(wait: Wait, answer: Answer, by?: string): void {
  if (typeof answer !== 'object' || (answer as unknown) === null) throw refused(wait, 'an answer is an object')
  assertJson('An answer', answer)
  // An inherited decision is not on record: what counts is what is written.
  const { decision, reason, remember, scope, value }: Partial<Answer> = { ...answer }
  if (reason !== undefined && typeof reason !== 'string') throw refused(wait, 'a reason is a text')
  if (by !== undefined && typeof by !== 'string') throw refused(wait, 'who answers is named by a text')
  // An unclear decision must not pass for a yes further on.
  if (!DECISIONS.has(decision))
    throw refused(wait, `${JSON.stringify(decision)} is none of approve, decline and answer`)
  if (remember !== undefined && !REMEMBERED.has(remember)) {
    throw refused(wait, `${JSON.stringify(remember)} cannot be remembered, only a tool or a category can`)
  }
  if (scope !== undefined && !SCOPES.has(scope)) {
    throw refused(wait, `${JSON.stringify(scope)} is no scope, only thread and resource are`)
  }
  if (remember !== undefined && wait.kind !== 'approval') {
    throw refused(wait, 'only an approval can be remembered')
  }
  if (wait.kind === 'approval' && decision === 'answer') {
    throw refused(wait, 'an approval is approved or declined')
  }
  if (decision === 'decline' || wait.answerSchema === undefined) return
  if (wait.kind === 'approval' && value === undefined) return
  const schema = schemaOf(wait.answerSchema)
  // No answer would fit a broken schema, and the wait would stay open for ever. The asker checks the answer too.
  if (schemaProblems(schema).broken.length > 0) return
  // The tool gets an approval without a value as `{}`.
  const wrong = checkAgainst(schema, decision === 'approve' ? (value ?? {}) : value)
  if (wrong !== undefined) throw refused(wait, wrong)
}

function schemaOf(text: string): JsonObject {
  try {
    const schema: unknown = JSON.parse(text)
    return typeof schema === 'object' && schema !== null ? (schema as JsonObject) : {}
  } catch {
    // An unreadable schema demands nothing.
    return {}
  }
}

function refused(wait: Wait, why: string): InspanError {
  return new InspanError('invalid-input', `This does not answer "${wait.description}": ${why}.`, {
    details: { waitId: wait.id, kind: wait.kind },
  })
}
