import { InspanError } from '@inspan/protocol'
import type { HarnessAgentConfig } from '@inspan/protocol/chat'
import { loadRules, Skills } from '@inspan/core'
import { AgentSDKError } from '../errors.ts'
import type { EngineAgentConfig } from './agent-config.ts'

/** What the files of a config tell an agent. */
export interface AgentFiles {
  /** The instructions of the config, and after them the rules in their order. */
  readonly instructions?: string
  readonly skills?: Skills
}

/** Reads rules and skills. A path that does not exist is refused; one without any content is only reported. */
export async function loadAgentFiles(
  root: string,
  { instructions, rules = [], skills = [], skillSearch = false }: HarnessAgentConfig<EngineAgentConfig>,
  report: (problem: string) => void,
): Promise<AgentFiles> {
  try {
    const texts = instructions === undefined ? [] : [instructions]
    for (const entry of rules) {
      const found = await loadRules([entry], root)
      if (found.length === 0) report(`There are no rules in ${entry}.`)
      texts.push(...found.map(({ text }) => text))
    }
    const loaded =
      skills.length === 0
        ? undefined
        : await Skills.load({ paths: skills, root, search: skillSearch, onProblem: report })
    if (loaded?.skills.length === 0) report(`There are no skills in ${skills.join(', ')}.`)
    return {
      ...(texts.length === 0 ? {} : { instructions: texts.join('\n\n') }),
      ...(loaded === undefined ? {} : { skills: loaded }),
    }
  } catch (error) {
    if (!InspanError.is(error)) throw error
    throw new AgentSDKError('INVALID_OPTIONS', error.message, { cause: error })
  }
}
