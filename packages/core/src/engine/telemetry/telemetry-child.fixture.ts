/**
 * A process without the OpenTelemetry package. Prints whether it was looked for and how a run ended. Run as: node
 * telemetry-child.fixture.ts [registered].
 */
import { registerHooks } from 'node:module'

let isLookedFor = false
registerHooks({
  resolve: (specifier, context, next) => {
    if (specifier !== '@opentelemetry/api') return next(specifier, context)
    isLookedFor = true
    throw Object.assign(new Error(`Cannot find package '${specifier}'`), { code: 'ERR_MODULE_NOT_FOUND' })
  },
})
if (process.argv[2] === 'registered') {
  Object.assign(globalThis, { [Symbol.for('opentelemetry.js.api.1')]: { version: '1.9.1', trace: {} } })
}
const { AgentBench } = await import('../agent-bench.fixture.ts')
const bench = await AgentBench.open([{ text: 'Hi.' }])
const outcome = await bench.play()
await bench[Symbol.asyncDispose]()
console.log(JSON.stringify({ outcome, isLookedFor }))
