import {
  aCount,
  aDuration,
  aFlag,
  aFunction,
  aNumber,
  anObject,
  anything,
  aPositiveCount,
  aShare,
  aText,
  checkBudget,
  checkOptions,
  either,
  listOf,
  words,
  type FieldRule,
  type OptionRules,
} from '@inspan/protocol/internal'
import type { AgentOptions } from './agent.ts'
import type { LoopHooks } from './hooks.ts'
import type { ModelSettings } from './native-driver.ts'
import type { RetryOptions } from './retry.ts'
import { checkTools } from './runnable-tool.ts'
import type { OutputOptions } from './structured-output.ts'

const aTimeout: FieldRule = {
  wanted: 'a number of milliseconds above 0',
  accepts: (value) => typeof value === 'number' && value > 0,
}

const AGENT: OptionRules<AgentOptions> = {
  id: aText,
  name: words,
  description: words,
  model: either(aText, anObject, aFunction),
  resolveModel: aFunction,
  instructions: either(words, aFunction),
  maxSteps: aPositiveCount,
  stopWhen: either(aFunction, listOf(aFunction, 'functions')),
  toolChoice: anObject,
  providerOptions: anObject,
  idleTimeoutMs: aTimeout,
  hooks: anObject,
  cache: aFlag,
  tools: either(anObject, listOf(anObject, 'tools'), aFunction),
  toolSources: listOf(anObject, 'tool sources'),
  browser: anObject,
  memory: anObject,
  workspace: anObject,
  budget: anything,
  settings: anything,
  retry: anything,
  output: anything,
}

const SETTINGS: OptionRules<ModelSettings> = {
  maxOutputTokens: aPositiveCount,
  temperature: aNumber,
  topP: aShare,
  topK: aNumber,
  presencePenalty: aNumber,
  frequencyPenalty: aNumber,
  stopSequences: listOf(words, 'texts'),
  seed: aNumber,
  reasoning: words,
  headers: anObject,
}

const RETRY: OptionRules<RetryOptions> = {
  maxRetries: aCount,
  initialDelayMs: aDuration,
  maxDelayMs: aDuration,
  maxRetryAfterMs: aDuration,
}

const OUTPUT: OptionRules<OutputOptions> = {
  schema: either(anObject, aFunction),
  name: aText,
  description: words,
  repairs: aCount,
}

const HOOKS: OptionRules<LoopHooks> = {
  beforeTurn: aFunction,
  afterTurn: aFunction,
  beforeStep: aFunction,
  afterStep: aFunction,
  beforeTool: aFunction,
  afterTool: aFunction,
}

/** Throws if an option is wrong, and says which. */
export function checkAgentOptions(options: AgentOptions): void {
  checkOptions('an agent', options, AGENT, ['id', 'model'])
  const of = `of agent "${options.id}"`
  if (typeof options.tools === 'object') checkTools(options.tools)
  checkBudget(`agent "${options.id}"`, options.budget)
  if (options.settings !== undefined) checkOptions(`the settings ${of}`, options.settings, SETTINGS)
  if (options.retry !== undefined) checkOptions(`the retries ${of}`, options.retry, RETRY)
  if (options.output !== undefined) checkOptions(`the output ${of}`, options.output, OUTPUT, ['schema'])
  if (options.hooks !== undefined) checkOptions(`the hooks ${of}`, options.hooks, HOOKS)
}
