/** Gives a first answer in a process of its own and prints which modules that took. */
import { registerHooks } from 'node:module'

const loaded: string[] = []
registerHooks({
  load(url, context, next) {
    loaded.push(url)
    return next(url, context)
  },
})

const { Agent, Harness } = await import('../index.ts')

const model = {
  specificationVersion: 'v4',
  provider: 'test',
  modelId: 'test',
  supportedUrls: {},
  doGenerate: () => Promise.reject(new Error('It streams.')),
  doStream: async () => ({
    stream: new ReadableStream({
      start(controller) {
        controller.enqueue({ type: 'text-start', id: '0' })
        controller.enqueue({ type: 'text-delta', id: '0', delta: 'Hello.' })
        controller.enqueue({ type: 'text-end', id: '0' })
        const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } }
        controller.enqueue({ type: 'finish', usage, finishReason: { unified: 'stop', raw: 'stop' } })
        controller.close()
      },
    }),
  }),
} as unknown as NonNullable<ConstructorParameters<typeof Agent>[0]['model']>

const harness = new Harness({ id: 'first', agent: new Agent({ id: 'agent', model }), modes: [{ id: 'chat' }] })
await harness.init()
const session = await harness.createSession({ resourceId: 'user' })
let text = ''
session.subscribe((event) => {
  if (event.type === 'message_end') text = JSON.stringify(event.message)
})
await session.sendMessage({ content: 'Hi' })
await harness.destroy()
console.log(JSON.stringify({ text, loaded }))
