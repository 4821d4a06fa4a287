import { mapRun, unstamped, type MappedRun, type RunOptions } from '../support.ts'
import { clineDialect } from '../../src/cline/mapper.ts'

export const result = { type: 'run_result', finishReason: 'completed', text: 'Hi.' }

/** Records as Cline prints them. */
export function event(type: string, more: object = {}): object {
  return reports({ type, ...more })
}

export function reports(record: object): object {
  return { type: 'agent_event', event: record }
}

export function says(text: string): object {
  return event('content_end', { contentType: 'text', text })
}

export function call(id: string, name: string, input: unknown): object {
  return event('content_start', { contentType: 'tool', toolName: name, toolCallId: id, input })
}

export function answer(id: string, name: string, output: unknown, more: object = {}): object {
  return event('content_end', { contentType: 'tool', toolName: name, toolCallId: id, output, ...more })
}

export function hook(name: string, agentId = 'lead', parentAgentId: string | null = null): object {
  return { type: 'hook_event', hookEventName: name, agentId, taskId: 'conv_1', parentAgentId }
}

export function team(type: string, more: object): object {
  return { type: 'team_event', event: { type, ...more } }
}

export function usage(
  input: number,
  output: number,
  totalInput: number,
  totalOutput: number,
  more: object = {},
): object {
  return {
    type: 'usage',
    inputTokens: input,
    outputTokens: output,
    totalInputTokens: totalInput,
    totalOutputTokens: totalOutput,
    ...more,
  }
}

export function mapped(lines: readonly unknown[], options?: RunOptions): MappedRun {
  return mapRun(clineDialect, lines, options)
}

export function map(lines: readonly unknown[], options?: RunOptions): readonly object[] {
  return unstamped(mapped(lines, options).activity)
}

/** The activity of what the agent says. */
export function agent(message: string): object {
  return { type: 'agent', message }
}
