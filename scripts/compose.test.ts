import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { Agent, Harness } from '@inspan/core'
import { serve } from '@inspan/server'
import { scriptedModel } from '@inspan/testing'
import { main } from 'inspan'
import { parseDocument } from 'yaml'
import { z } from 'zod'

/** What this file uses of the Compose specification. Strict: a misspelt key fails instead of having no effect. */
const duration = z.string().regex(/^\d+(ms|s|m|h)$/)
const service = z.strictObject({
  image: z.string().regex(/^[a-z/]+:[\d.]+$/, 'an image needs a version'),
  command: z.array(z.string()).optional(),
  working_dir: z.string().startsWith('/').optional(),
  environment: z.record(z.string(), z.string()).optional(),
  ports: z.array(z.string().regex(/^127\.0\.0\.1:\d+:\d+$/, 'only this machine may reach it')).optional(),
  volumes: z.array(z.string().regex(/^[a-z]+:\/[a-z/]+$/)).optional(),
  healthcheck: z
    .strictObject({
      test: z.tuple([z.enum(['CMD', 'CMD-SHELL'])]).rest(z.string()),
      interval: duration,
      timeout: duration,
      retries: z.int(),
    })
    .optional(),
  depends_on: z
    .record(z.string(), z.strictObject({ condition: z.enum(['service_healthy', 'service_completed_successfully']) }))
    .optional(),
  stop_signal: z.literal('SIGTERM').optional(),
  stop_grace_period: duration.optional(),
  deploy: z.strictObject({ replicas: z.int().min(1) }).optional(),
  restart: z.enum(['no', 'unless-stopped']).optional(),
})
const compose = z.strictObject({ services: z.record(z.string(), service), volumes: z.record(z.string(), z.null()) })

async function read(): Promise<z.infer<typeof compose>> {
  const document = parseDocument(await readFile(new URL('../compose.yaml', import.meta.url), 'utf8'))
  assert.deepEqual([...document.errors, ...document.warnings], [])
  return compose.parse(document.toJS())
}

test('compose.yaml has no unknown keys, and its services and volumes exist', async () => {
  const { services, volumes } = await read()
  for (const [name, { depends_on: needed = {}, volumes: mounts = [] }] of Object.entries(services)) {
    for (const [other, { condition }] of Object.entries(needed)) {
      assert.ok(services[other] !== undefined, `${name} depends on ${other}`)
      if (condition === 'service_healthy') assert.ok(services[other].healthcheck, `${other} has no health check`)
    }
    for (const mount of mounts) assert.ok((mount.split(':')[0] ?? '') in volumes, `${name} mounts ${mount}`)
  }
})

test('the commands of inspan in compose.yaml exist, with the options they are given', async () => {
  const { services } = await read()
  for (const name of ['migrate', 'machine']) {
    const words = services[name]?.command ?? []
    const [command = '', ...args] = words.slice(words.lastIndexOf('inspan') + 1)
    let help = ''
    const terminal = {
      out: (text: string) => void (help += text),
      write: (text: string) => void (help += text),
      err: () => undefined,
      input: Readable.from([]),
      isTty: false,
      cwd: '/',
      env: {},
    }
    assert.equal(await main(['help', command], terminal), 0, command)
    for (const option of args.filter((arg) => arg.startsWith('--'))) assert.match(help, new RegExp(`${option} `))
  }
})

test('the health check in compose.yaml finds a server that is started as there, and notices when it is gone', async () => {
  const { services } = await read()
  const { command = [], healthcheck } = services['machine'] ?? {}
  assert.ok(command.includes('--allow-remote'))
  const valueOf = (option: string): string => command[command.indexOf(option) + 1] ?? ''
  const [, defaultHost = ''] = /^\$\{PUBLIC_HOST:-(.+)\}$/.exec(valueOf('--allowed-host')) ?? []
  const agent = new Agent({ id: 'agent', model: scriptedModel([]) })
  const harness = new Harness({ id: 'composed', agent, modes: [{ id: 'chat' }] })
  const server = await serve({
    harness,
    host: valueOf('--host'),
    allowRemote: true,
    allowedHosts: [defaultHost],
  })
  const [kind, program = '', ...args] = healthcheck?.test ?? []
  assert.deepEqual([kind, program], ['CMD', 'node'])
  const port = new URL(server.url).port
  const here = args.map((arg) => arg.replace(`:${valueOf('--port')}/`, `:${port}/`))
  assert.notDeepEqual(here, args)
  const check = (): Promise<unknown> => promisify(execFile)(process.execPath, here)
  try {
    await check()
  } finally {
    await server.close()
    await harness.destroy()
  }
  await assert.rejects(check())
})
