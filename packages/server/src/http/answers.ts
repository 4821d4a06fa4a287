import type { JsonObject } from '@inspan/protocol'
import { jsonSchemaOf, type SchemaName } from '@inspan/protocol/schema'
import { ROLES } from '../auth/identity.ts'

const COMPONENTS = '#/components/schemas/'

export const text: JsonObject = { type: 'string' }
export const flag: JsonObject = { type: 'boolean' }
const whole: JsonObject = { type: 'integer' }
const amount: JsonObject = { type: 'number' }
const only: JsonObject = { const: true }

/** An object with these fields. Names that end with `?` may be missing. */
export function fields(properties: Readonly<Record<string, JsonObject>>): JsonObject {
  const named = Object.entries(properties)
  return {
    type: 'object',
    properties: Object.fromEntries(named.map(([name, schema]) => [name.replace(/\?$/, ''), schema])),
    required: named.map(([name]) => name).filter((name) => !name.endsWith('?')),
  }
}

export function listOf(items: JsonObject): JsonObject {
  return { type: 'array', items }
}

/** A type of the protocol or one of `SHOWN`, by its name among the components of the document. */
export function named(name: string): JsonObject {
  return { $ref: `${COMPONENTS}${name}` }
}

/** The types of the protocol that the routes mention. */
const MENTIONED: readonly SchemaName[] = [
  'Capabilities',
  'Command',
  'Grants',
  'PendingApproval',
  'ReceiptMessage',
  'StoredHead',
  'StoredMessage',
  'UsageMetadata',
  'UsageTotals',
  'Wait',
]

const orNull = (type: 'string' | 'integer' | 'number'): JsonObject => ({ type: [type, 'null'] })

const thread: Readonly<Record<string, JsonObject>> = {
  id: text,
  title: orNull('string'),
  createdAt: whole,
  updatedAt: whole,
  'forkedFrom?': fields({ thread: text, at: whole }),
}

/** A duration or a number of tokens; `null` stands for "without end". */
const limit = orNull('number')

/** What only the routes answer. */
const SHOWN: Readonly<Record<string, JsonObject>> = {
  Failure: fields({ error: fields({ message: text, 'code?': text }) }),
  Thread: fields(thread),
  ChildThread: fields({ id: text, title: orNull('string'), createdAt: whole, updatedAt: whole, 'parentCall?': text }),
  ThreadOverview: fields({
    ...thread,
    'project?': text,
    'canOpen?': only,
    status: { enum: ['idle', 'running', 'awaiting-approval', 'error'] },
    agentId: text,
    mode: text,
    'model?': text,
    'pendingApprovals?': listOf(named('PendingApproval')),
    'error?': text,
  }),
  Token: fields({
    id: text,
    name: text,
    principal: text,
    role: { enum: [...ROLES] },
    createdAt: whole,
    'isOwner?': only,
  }),
  Mode: fields({ id: text, name: text, 'description?': text, 'defaultModelId?': text }),
  Model: fields({
    id: text,
    provider: text,
    modelName: text,
    'providerName?': text,
    'gateway?': text,
    hasApiKey: flag,
    'apiKeyEnvVar?': text,
    useCount: whole,
    'contextWindow?': whole,
    'price?': fields({ 'input?': amount, 'output?': amount, 'cacheRead?': amount, 'cacheWrite?': amount }),
  }),
  Agent: fields({ id: text, 'capabilities?': named('Capabilities'), 'error?': text }),
  NativeSession: fields({ id: text, agentId: text, 'title?': text, updatedAt: amount, cwd: text }),
  ChangedFile: fields({
    path: text,
    status: { enum: ['created', 'changed', 'deleted'] },
    'before?': text,
    'after?': text,
    'diff?': text,
    'isBinary?': only,
  }),
  Memory: fields({
    generation: whole,
    coversTo: whole,
    threshold: amount,
    reflectionThreshold: amount,
    'pendingTokens?': amount,
    'observationTokens?': amount,
    'observations?': text,
  }),
  Limits: fields({
    'approvalTimeout?': limit,
    'parkAfter?': limit,
    'keepWarm?': limit,
    'handoverTokens?': limit,
  }),
  AgentLimit: fields({
    agentId: text,
    name: text,
    status: { enum: ['ok', 'near', 'reached'] },
    'resetsAt?': amount,
    'used?': amount,
  }),
  Retained: fields({ stream: text, from: whole, to: whole, neededBy: listOf(text) }),
}

/** Every type that the routes mention, with the types it uses. */
export function components(): JsonObject {
  const found: Record<string, JsonObject> = { ...SHOWN }
  for (const name of MENTIONED) {
    const { $defs = {}, $schema: _schema, ...schema } = jsonSchemaOf(name)
    // A schema that is used by itself is among its own definitions.
    Object.assign(found, { [name]: schema }, $defs)
  }
  return JSON.parse(JSON.stringify(found).replaceAll('"$ref":"#/$defs/', `"$ref":"${COMPONENTS}`)) as JsonObject
}
