import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { it, type TestContext } from 'node:test'
import { claudeCode } from '@inspan/adapters'
import { connect } from '@inspan/client'
import { createTool, Memory, MemoryStore, Workspace } from '@inspan/core'
import { createThread, ThreadLog } from '@inspan/core/engine'
import { scriptedModel } from '@inspan/testing'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import { uuidV7 } from './commands/uuid.ts'
import { ServerBench } from './server.fixture.ts'
import { stateWhere } from './client-state.fixture.ts'

interface Content {
  readonly content?: Readonly<Record<string, { readonly schema?: object }>>
}

interface Operation {
  readonly parameters: readonly { readonly name: string; readonly in: string; readonly required?: boolean }[]
  readonly requestBody?: Content
  readonly responses: Readonly<Record<string, Content & { readonly description: string }>>
}

interface Description {
  readonly openapi: string
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: { readonly schemas: Readonly<Record<string, object>> }
}

const JSON_TYPE = 'application/json'
const ID = 'https://inspan.example/openapi.json'

/** The schema of OpenAPI 3.1 documents, as the OpenAPI Initiative publishes it (Apache License 2.0). */
const PUBLISHED = readFileSync(new URL('fixtures/openapi-3.1.json', import.meta.url), 'utf8')
/** Schemas inside a document are read as the schema itself says, and not by a dialect, which Ajv cannot choose. */
const OPENAPI = JSON.parse(PUBLISHED.replaceAll('"$dynamicRef": "#meta"', '"$ref": "#/$defs/schema"')) as object

async function descriptionOf(bench: ServerBench): Promise<Description> {
  return (await (await bench.fetch('/v1/openapi.json')).json()) as Description
}

/** Makes every object that does not say what else it may have refuse whatever is not described. */
function closed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(closed)
  if (typeof value !== 'object' || value === null) return value
  const copy = Object.fromEntries(Object.entries(value).map(([name, each]) => [name, closed(each)]))
  const isOpen = 'properties' in value && 'type' in value && !('additionalProperties' in value)
  return isOpen ? { ...copy, additionalProperties: false } : copy
}

/** Reads the schemas of the document with code that did not write them. */
class Reader {
  // The document has names that are no keywords of JSON Schema around its schemas.
  readonly #ajv: Ajv2020 = new Ajv2020({ strict: false })

  constructor(description: Description) {
    this.#ajv.addSchema(closed(description) as object, ID)
  }

  at(...path: readonly string[]): ValidateFunction {
    const pointer = path.map((step) => encodeURIComponent(step.replaceAll('~', '~0').replaceAll('/', '~1'))).join('/')
    return this.#ajv.compile({ $ref: `${ID}#/${pointer}` })
  }

  answer(path: string, method: string, status: string): ValidateFunction {
    return this.at('paths', path, method, 'responses', status, 'content', JSON_TYPE, 'schema')
  }
}

/** A harness that has something of everything that a route can show. */
async function richBench(t: TestContext): Promise<{ bench: ServerBench; limited: string }> {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'inspan-openapi-')))
  t.after(() => rmSync(base, { recursive: true, force: true }))
  const project = join(base, 'project')
  const sessions = join(base, '.claude/projects', project.replaceAll(/[^a-zA-Z0-9]/g, '-'))
  for (const folder of [project, sessions]) mkdirSync(folder, { recursive: true })
  const said = { type: 'user', uuid: 'n1', message: { role: 'user', content: 'Hello.' } }
  writeFileSync(
    join(sessions, '0b7c6f0e-5a1d-4f43-9a39-6d1c2c9f7c11.jsonl'),
    `${JSON.stringify({ sessionId: '0b7c6f0e-5a1d-4f43-9a39-6d1c2c9f7c11', cwd: project, ...said })}\n`,
  )
  const storage = new MemoryStore()
  const limited = await threadWithLimit(storage)
  const agent = claudeCode({ cwd: base, transport: 'live', env: { HOME: base } })
  const script = [
    { toolCalls: [{ name: 'subagent', input: { agentType: 'look', task: 'Look.' } }] },
    { toolCalls: [{ name: 'write_file', input: { path: 'a.txt', content: 'one\n' } }] },
    { toolCalls: [{ name: 'deploy', input: {} }] },
    { text: 'Done.' },
  ]
  const deploy = createTool({ id: 'deploy', description: 'Deploys.', execute: () => 'deployed' })
  const bench = await ServerBench.start(script, {
    agent: { tools: { deploy } },
    harness: {
      storage,
      modes: [
        { id: 'build', name: 'Build', description: 'Changes files.', defaultModelId: 'house/large' },
        { id: 'code', agent },
      ],
      customModelCatalogProvider: () => [
        { id: 'house/large', provider: 'house', modelName: 'large', hasApiKey: true, contextWindow: 100_000 },
      ],
      resolveModel: () => scriptedModel([{ text: 'Nothing there.' }]),
      subagents: [{ id: 'look', name: 'Look', description: 'Looks around.', instructions: 'Look.' }],
      memory: new Memory({ observationalMemory: { model: 'none/at-all' } }),
      workspace: new Workspace({ root: project, checkpoints: { folder: join(base, 'checkpoints') } }),
      permissions: { tools: { subagent: 'allow', write_file: 'allow' } },
      approvalTimeout: 3_600_000,
    },
    serve: { folders: [project] },
  })
  return { bench, limited }
}

/** Makes a thread whose agent has reached a limit of its account. */
async function threadWithLimit(storage: MemoryStore): Promise<string> {
  const [stream, owner] = ['limited', 'elsewhere']
  await storage.putOwner({ id: owner, host: 'elsewhere', pid: 1, startTime: '', bootId: '', until: 0 })
  await createThread(storage, { id: stream, resourceId: 'bench' })
  const claim = await storage.claim(stream, owner)
  assert.equal(claim.status, 'owned')
  const log = await ThreadLog.open({ store: storage, stream, fence: { owner, epoch: claim.epoch } })
  const data = { agentId: 'code', name: 'five_hour', status: 'reached', resetsAt: 1_800_000_000_000, used: 1 }
  await log.commit([{ type: 'note', kind: 'limit', text: 'Limit "five_hour" is reached.', data }])
  return stream
}

it('the OpenAPI document is one by the schema of OpenAPI 3.1, and each schema in it is JSON Schema', async () => {
  await using bench = await ServerBench.start([])
  const description = await descriptionOf(bench)
  // The schema checks the form of addresses as well, which no text here has.
  const isOpenApi = new Ajv2020({ strict: false, validateFormats: false }).compile(OPENAPI)
  assert.ok(isOpenApi(description), JSON.stringify(isOpenApi.errors))
  const get = { ...description.paths['/v1/modes']?.['get'], responses: { 200: {} } }
  for (const broken of [{ openapi: '3.0.0' }, { paths: { modes: {} } }, { paths: { '/v1/modes': { get } } }]) {
    assert.equal(isOpenApi({ ...description, ...broken }), false, JSON.stringify(broken))
  }

  // Fails for what is no schema, and for a reference to nowhere.
  const reader = new Reader(description)
  for (const name of Object.keys(description.components.schemas)) reader.at('components', 'schemas', name)
  for (const [path, methods] of Object.entries(description.paths)) {
    const places = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name)
    for (const [method, { parameters, requestBody, responses }] of Object.entries(methods)) {
      const inPath = parameters.filter(({ in: where }) => where === 'path')
      assert.deepEqual(
        inPath.map(({ name, required }) => [name, required]),
        places.map((name) => [name, true]),
        `${method} ${path}`,
      )
      if (requestBody !== undefined) reader.at('paths', path, method, 'requestBody', 'content', JSON_TYPE, 'schema')
      for (const [status, { content = {} }] of Object.entries(responses)) {
        // Bytes have no schema, everything else has one.
        for (const [type, { schema }] of Object.entries(content)) {
          assert.equal(schema === undefined, type === 'application/octet-stream', `${method} ${path}`)
          if (type === JSON_TYPE) reader.answer(path, method, status)
        }
      }
    }
  }
})

it('every JSON answer of a server is as the OpenAPI document describes it, and has nothing else', async (t) => {
  const { bench, limited } = await richBench(t)
  await using _bench = bench
  const description = await descriptionOf(bench)
  const reader = new Reader(description)
  const left = new Set(
    Object.entries(description.paths).flatMap(([path, methods]) =>
      Object.entries(methods).flatMap(([method, { responses }]) =>
        Object.entries(responses).some(([status, { content }]) => status < '3' && content?.[JSON_TYPE] !== undefined)
          ? [`${method} ${path}`]
          : [],
      ),
    ),
  )
  /** Asks a route, compares its answer with its schema, and returns it. */
  const ask = async <T>(
    route: string,
    given: Readonly<Record<string, string>> = {},
    body?: object,
    query = '',
  ): Promise<T> => {
    const [method = '', path = ''] = route.split(' ')
    const address = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(given[name] ?? ''))
    const init = { method: method.toUpperCase(), ...(body === undefined ? {} : { body: JSON.stringify(body) }) }
    const response = await bench.fetch(`${address}${query}`, init)
    const answer = (await response.json()) as T
    const described = description.paths[path]?.[method]?.responses[response.status]
    assert.ok(described !== undefined, `${route} answered ${response.status}: ${JSON.stringify(answer)}`)
    const isDescribed = reader.answer(path, method, String(response.status))
    assert.ok(isDescribed(answer), `${route}: ${JSON.stringify(isDescribed.errors)}`)
    if (path !== '/v1/openapi.json') assert.equal(isDescribed({ surprise: 1 }), false, `${route} takes anything`)
    left.delete(route)
    return answer
  }
  const client = await connect({ url: bench.url, token: bench.token })
  const { thread } = client.getState()
  const of = { thread }

  const isBody = reader.at('paths', '/v1/commands', 'post', 'requestBody', 'content', JSON_TYPE, 'schema')
  const commands = [{ type: 'submit', prompt: 'Hi', id: uuidV7(), thread }]
  assert.ok(isBody({ clientId: 'c', commands }))
  for (const wrong of [{}, { commands: [{ type: 'dance' }] }, { commands: [{ type: 'submit' }] }, { commands: 7 }]) {
    assert.equal(isBody(wrong), false, JSON.stringify(wrong))
  }
  await ask('post /v1/commands', {}, { clientId: 'c', commands })
  const { pendingApprovals: [wait] = [] } = await stateWhere(client, ({ status }) => status === 'awaiting-approval')
  assert.equal(wait?.toolName, 'deploy')

  const { threads } = await ask<{ threads: readonly object[] }>('get /v1/overview')
  assert.ok(threads.some((each) => 'pendingApprovals' in each))
  const waited = await ask<{ waits: readonly object[] }>('get /v1/threads/{thread}/limits', of)
  assert.deepEqual(waited.waits, [])
  await ask('get /v1/threads/{thread}/waits/{wait}/file', { ...of, wait: wait.waitId })
  client.send({ type: 'approve', toolCallId: wait.toolCallId, remember: 'tool' })
  await stateWhere(client, ({ status }) => status === 'idle')

  await ask('get /v1/threads/{thread}', of)
  await ask('get /v1/threads/{thread}/messages', of)
  const { files } = await ask<{ files: readonly object[] }>('get /v1/threads/{thread}/files', of)
  assert.equal(files.length, 1)
  const { memory } = await ask<{ memory: object | null }>('get /v1/threads/{thread}/memory', of)
  assert.ok(memory !== null)
  const grants = await ask<{ thread: { tools: readonly string[] } }>('get /v1/threads/{thread}/grants', of)
  assert.deepEqual(grants.thread.tools, ['deploy'])
  const noted = await ask<{ agents: readonly object[] }>('get /v1/threads/{thread}/limits', { thread: limited })
  assert.equal(noted.agents.length, 1)
  const children = await ask<{ threads: readonly object[] }>('get /v1/threads/{thread}/children', of)
  assert.equal(children.threads.length, 1)

  await ask('post /v1/threads', {}, { title: 'Another' })
  const fork = await ask<{ thread: { id: string; forkedFrom?: object } }>('post /v1/threads/{thread}/forks', of, {})
  assert.ok(fork.thread.forkedFrom !== undefined)
  await ask('patch /v1/threads/{thread}', { thread: fork.thread.id }, { title: 'A fork' })
  const page = await ask<{ next: string | null }>('get /v1/threads', {}, undefined, '?limit=2')
  assert.ok(page.next !== null)
  await ask('post /v1/sessions/{session}/thread', { session: thread }, {})
  const { sessions } = await ask<{ sessions: readonly object[] }>('get /v1/sessions')
  assert.equal(sessions.length, 1)

  const { models } = await ask<{ models: readonly object[] }>('get /v1/models')
  const { agents } = await ask<{ agents: readonly object[] }>('get /v1/agents')
  assert.ok(models.length > 0 && agents.filter((agent) => 'capabilities' in agent).length === 2)
  for (const route of ['modes', 'folders', 'limits', 'health', 'ready', 'openapi.json']) await ask(`get /v1/${route}`)
  const { code } = await ask<{ code: string }>('post /v1/pair/codes', {}, { role: 'view' })
  await ask('post /v1/pair', {}, { code, name: 'phone' })
  const { tokens } = await ask<{ tokens: readonly object[] }>('get /v1/tokens')
  assert.equal(tokens.length, 2)
  const isFailure = reader.at('components', 'schemas', 'Failure')
  const failures = ['/v1/threads/none', '/v1/threads?limit=x', '/v1/nothing'].map((path) => bench.fetch(path))
  failures.push(
    fetch(`${bench.url}/v1/modes`),
    fetch(`${bench.url}/v1/modes`, { headers: { origin: 'https://a.example' } }),
  )
  const refused = await Promise.all(failures)
  assert.deepEqual(
    refused.map(({ status }) => status),
    [404, 400, 404, 401, 403],
  )
  for (const response of refused) assert.ok(isFailure(await response.json()), JSON.stringify(isFailure.errors))

  await client.close()
  const removed = await ask<{ retained: readonly object[] }>('delete /v1/threads/{thread}', of)
  assert.equal(removed.retained.length, 1)
  assert.deepEqual([...left], [], 'each route has to be asked here')
})
