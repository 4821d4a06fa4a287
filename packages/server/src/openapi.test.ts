import assert from 'node:assert/strict'
import { it } from 'node:test'
import { connect } from '@inspan/client'
import { z } from 'zod'
import { uuidV7 } from './commands/uuid.ts'
import { ServerBench } from './server.fixture.ts'
import { stateWhere } from './client-state.fixture.ts'

type Json = Parameters<typeof z.fromJSONSchema>[0]

interface Operation {
  readonly summary: string
  readonly parameters: readonly { readonly name: string; readonly in: string; readonly required?: boolean }[]
  readonly requestBody?: { readonly content: { readonly 'application/json': { readonly schema: object } } }
  readonly responses: Readonly<
    Record<string, { readonly description: string; readonly content?: Record<string, { readonly schema?: object }> }>
  >
}

interface Description {
  readonly openapi: string
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: { readonly schemas: Readonly<Record<string, object>> }
}

/** Reads a schema of the document with code that did not write it. */
function reader({ components }: Description, schema: object): z.ZodType {
  const whole = { $schema: 'https://json-schema.org/draft/2020-12/schema', ...schema, $defs: components.schemas }
  const text = JSON.stringify(whole).replaceAll('"#/components/schemas/', '"#/$defs/')
  return z.fromJSONSchema(JSON.parse(text) as Json)
}

it('the OpenAPI document describes what the routes take and answer', async () => {
  await using bench = await ServerBench.start([{ text: 'Hello' }])
  const read = async (path: string): Promise<unknown> => (await bench.fetch(path)).json()
  const description = (await read('/v1/openapi.json')) as Description
  assert.match(description.openapi, /^3\.1\./)
  const text = JSON.stringify(description)
  for (const [, name = ''] of text.matchAll(/"\$ref":"#\/components\/schemas\/([^"]+)"/g)) {
    assert.ok(Object.hasOwn(description.components.schemas, name), name)
  }
  assert.doesNotMatch(text, /#\/\$defs\//)
  for (const [path, methods] of Object.entries(description.paths)) {
    const places = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name)
    for (const [method, { parameters, responses, summary }] of Object.entries(methods)) {
      const inPath = parameters.filter(({ in: where }) => where === 'path')
      assert.deepEqual(
        inPath.map(({ name, required }) => [name, required]),
        places.map((name) => [name, true]),
        `${method} ${path}`,
      )
      assert.ok(summary !== '' && Object.values(responses).every((response) => response.description !== ''), path)
    }
  }

  const post = description.paths['/v1/commands']?.['post']
  const body = reader(description, post?.requestBody?.content['application/json'].schema ?? {})
  const given = { clientId: 'c', commands: [{ type: 'submit', prompt: 'Hi', id: uuidV7() }] }
  assert.ok(body.safeParse(given).success)
  for (const wrong of [{}, { commands: [{ type: 'dance' }] }, { commands: [{ type: 'submit' }] }, { commands: 7 }]) {
    assert.equal(body.safeParse(wrong).success, false, JSON.stringify(wrong))
  }
  const client = await connect({ url: bench.url, token: bench.token })
  const { thread } = client.getState()
  const sent = await bench.fetch('/v1/commands', { method: 'POST', body: JSON.stringify({ commands: given.commands }) })
  const answers: [method: string, path: string, answer: unknown][] = [['post', '/v1/commands', await sent.json()]]
  await stateWhere(client, ({ messages, status }) => status === 'idle' && messages.length === 2)
  for (const path of ['/v1/threads/{thread}', '/v1/threads/{thread}/messages']) {
    answers.push(['get', path, await read(path.replace('{thread}', thread))])
  }
  for (const [method, path, answer] of answers) {
    const [response] = Object.values(description.paths[path]?.[method]?.responses ?? {})
    const schema = reader(description, response?.content?.['application/json']?.schema ?? {})
    const { error, success } = schema.safeParse(answer)
    assert.ok(success, `${path}: ${error?.message}`)
    assert.equal(schema.safeParse({}).success, false)
  }
  await client.close()
})
