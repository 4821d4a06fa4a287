import { Agent, keyVariablesOf } from '@inspan/core'
import { runtimeAgent, type RuntimeAgent } from '@inspan/core/engine'
import { InspanError } from '@inspan/protocol'
import type { Terminal } from './command.ts'
import { NATIVE } from './native-id.ts'

/** Our own loop with a model of any provider whose package is installed and whose key is in the environment. */
export function nativeAgent(model: string, terminal: Pick<Terminal, 'env'>): RuntimeAgent {
  checkKey(model, terminal)
  return runtimeAgent(new Agent({ id: NATIVE, model, instructions: 'You are a helpful assistant. Be brief.' }))
}

/** Refuses a model whose provider needs a key that is not in the environment. */
export function checkKey(model: string, { env }: Pick<Terminal, 'env'>): void {
  const variables = keyVariablesOf(model)
  if (variables.length > 0 && !variables.some((name) => (env[name] ?? '') !== '')) {
    throw new InspanError('not-found', `There is no key for "${model}".`, {
      hint: `Set ${variables.join(' or ')} in the environment.`,
    })
  }
}
