import { Agent, keyVariablesOf, nearestAgentsFile, Skills, TrustedFolders, Workspace } from '@inspan/core'
import { runtimeAgent, type RuntimeAgent } from '@inspan/core/engine'
import { InspanError } from '@inspan/protocol'
import type { Terminal } from './command.ts'
import { NATIVE } from './native-id.ts'
import { trustedFile } from './project.ts'

const INSTRUCTIONS = 'You are a helpful assistant. Be brief. Your tools work in the folder of the user.'

/**
 * Our own loop with a model of any provider whose package is installed and whose key is in the environment. Its tools
 * work in the current folder. It follows the AGENTS.md and the skills of a folder that is trusted.
 */
export async function nativeAgent(
  model: string,
  terminal: Pick<Terminal, 'cwd' | 'env' | 'err'>,
): Promise<RuntimeAgent> {
  checkKey(model, terminal)
  const { cwd } = terminal
  const workspace = new Workspace({ root: cwd, checkpoints: false })
  const top = await new TrustedFolders({ file: trustedFile(terminal) }).covering(cwd)
  const agentsFile = top === undefined ? undefined : await nearestAgentsFile(cwd, top)
  const onProblem = (problem: string): void => terminal.err(problem)
  const skills = top === undefined ? [] : [await Skills.load({ project: cwd, onProblem })]
  const instructions = [INSTRUCTIONS, agentsFile?.text].filter(Boolean).join('\n\n')
  return runtimeAgent(new Agent({ id: NATIVE, model, instructions }), { sources: [workspace, ...skills] })
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

/** A model of each provider that does well with tools, in the order in which one is chosen. */
const USUAL_MODELS = [
  'anthropic/claude-sonnet-4-5',
  'openai/gpt-5-mini',
  'google/gemini-2.5-pro',
  'xai/grok-4',
  'mistral/mistral-large-latest',
  'deepseek/deepseek-chat',
] as const

/** Returns a model whose key is in the environment; undefined if there is no key for any. */
export function usableModel({ env }: Pick<Terminal, 'env'>): string | undefined {
  return USUAL_MODELS.find((model) => keyVariablesOf(model).some((name) => (env[name] ?? '') !== ''))
}
