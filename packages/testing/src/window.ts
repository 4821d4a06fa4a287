import type { ScriptedError, ModelTurn } from './script.ts'

const bytesPerToken = 4

/** Counts the tokens of a request: a fourth of its bytes. The judge of whether a request fits a scripted window. */
export function countRequestTokens(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / bytesPerToken)
}

/** Returns the refusal of a request that is longer than the window, in the words of each format. */
export function overflowError(api: 'anthropic' | 'responses' | 'chat', tokens: number, window: number): ScriptedError {
  if (api === 'anthropic') {
    const message = `prompt is too long: ${tokens} tokens > ${window} maximum`
    return { status: 400, type: 'invalid_request_error', message, retryable: false }
  }
  const message =
    api === 'chat'
      ? `This model's maximum context length is ${window} tokens. However, your messages resulted in ${tokens} tokens. Please reduce the length of the messages.`
      : 'Your input exceeds the context window of this model. Please adjust your input and try again.'
  return { status: 400, type: 'invalid_request_error', code: 'context_length_exceeded', message, retryable: false }
}

/** Returns the turn with the counted tokens as its usage, unless the script says otherwise. */
export function withCountedUsage(turn: ModelTurn, tokens: number): ModelTurn {
  return { ...turn, usage: { inputTokens: tokens, outputTokens: 1, ...turn.usage } }
}
