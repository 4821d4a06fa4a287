/** What a client sends takes time and memory in proportion to its size, also if it is refused. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { schemas } from '@inspan/protocol/schema'
import { GROWTH_LIMIT, memoryGrowth, timeGrowth, type MakeWork } from '@inspan/testing'
import { readChatRequest } from './ai/chat-request.ts'
import { readJson } from './connection/read-json.ts'
import { ServerBench } from './server.fixture.ts'

const SHAPES: readonly string[] = ['word ', '[', '{"a":', '"\\', '\\', '"', '[]', '\u001b[31m', '\u{1f600}', ' ']
const LONG = 300_000
const ID = '019a0000-0000-7000-8000-000000000000'

const textOf = (shape: string, length: number): string => shape.repeat(Math.ceil(length / shape.length))

/** Returns what a reader made of its input, or how it refused it. */
function readOrRefused(read: () => unknown): unknown {
  try {
    return read()
  } catch (error) {
    return String(error)
  }
}

async function assertLinear(make: MakeWork, what: string): Promise<void> {
  const [time, memory] = [await timeGrowth(make), await memoryGrowth(make)]
  assert.ok(time <= GROWTH_LIMIT, `${what}: the time grows ${time.toFixed(1)} times`)
  assert.ok(memory <= GROWTH_LIMIT, `${what}: the memory grows ${memory.toFixed(1)} times`)
}

/** A message of every form with a place for a text. */
const FORMS: Readonly<Record<string, (text: string) => unknown>> = {
  hello: (clientId) => schemas.ClientHello.safeParse({ type: 'hello', protocol: 1, clientId }),
  prompt: (prompt) => schemas.Command.safeParse({ type: 'submit', prompt, id: ID }),
  attachment: (text) => {
    const attachments = [{ mimeType: 'a/b', data: Buffer.from(text).toString('base64') }]
    return schemas.Command.safeParse({ type: 'submit', prompt: '', attachments, id: ID })
  },
  'no base64': (data) =>
    schemas.Command.safeParse({ type: 'submit', prompt: '', attachments: [{ mimeType: data, data }], id: ID }),
  title: (title) => schemas.Command.safeParse({ type: 'rename', title, id: ID }),
  type: (type) => schemas.Command.safeParse({ type, id: ID }),
  'chat of the AI SDK': (text) =>
    readChatRequest({ id: 'c', messages: [{ role: 'user', parts: [{ type: 'text', text }] }] }),
  'file of the AI SDK': (text) => {
    const url = `data:a/b;base64,${Buffer.from(text).toString('base64')}`
    return readChatRequest({ id: 'c', messages: [{ role: 'user', parts: [{ type: 'file', url }] }] })
  },
  'messages of the AI SDK': (text) =>
    readChatRequest({ id: 'c', messages: Array.from(text, () => ({ role: 'user', parts: [] })) }),
}

describe('ten times as much from a client takes at most twelve times the time and memory', () => {
  it('JSON, and what is none', async () => {
    for (const shape of SHAPES) {
      for (const [before, after] of [
        ['', ''],
        ['"', '"'],
        ['[', ']'],
      ] as const) {
        const make: MakeWork = (factor) => {
          const text = `${before}${textOf(shape, LONG * factor)}${after}`
          return () => readOrRefused(() => readJson(text))
        }
        await assertLinear(make, JSON.stringify(before + shape))
      }
    }
  })

  for (const [form, read] of Object.entries(FORMS)) {
    it(`messages: ${form}`, async () => {
      for (const shape of ['word ', '=', '"', '\u{1f600}']) {
        const make: MakeWork = (factor) => {
          const text = textOf(shape, (LONG / 10) * factor)
          return () => readOrRefused(() => read(text))
        }
        await assertLinear(make, JSON.stringify(shape))
      }
    })
  }

  it('a message with many fields', async () => {
    await assertLinear((factor) => {
      const message = Object.fromEntries(Array.from({ length: 2_000 * factor }, (_, at) => [`field${at}`, at]))
      return () => schemas.Command.safeParse(message)
    }, 'fields')
  })

  it('requests over HTTP', async () => {
    await using bench = await ServerBench.start([])
    const send = async (body: string): Promise<number> => {
      const response = await bench.fetch('/v1/commands', { method: 'POST', body })
      await response.text()
      return response.status
    }
    for (const shape of ['word ', '[', '"\\']) {
      assert.equal(await send(textOf(shape, LONG)), 400)
      // Only the time: connections keep buffers of their own.
      const growth = await timeGrowth((factor) => {
        const body = textOf(shape, LONG * factor)
        return () => send(body)
      })
      assert.ok(growth <= GROWTH_LIMIT, `${JSON.stringify(shape)}: the time grows ${growth.toFixed(1)} times`)
    }
  })
})
