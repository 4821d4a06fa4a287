import type { RequestFacts } from './request-facts.ts'

// Command line agents that identify themselves. Their requests without tools are never the conversation itself.
const agents = /claude-cli|codex|opencode|kilo|^pi \(/i

const titles = /title generator|generate [^.\n]{0,60}title/i

const summaries =
  /context limit was reached|context checkpoint compaction|context summarization assistant|detailed summary of (?:the|this) conversation/i

/**
 * True for requests for titles, names and summaries, and for probes whether the key works. They have no tools, but
 * neither have those of a plain chat, so there must be a sign that an agent sent it.
 */
export function looksLikeSideRequest(facts: RequestFacts, userAgent: string): boolean {
  if (facts.hasTools) return false
  if (facts.maxTokens === 1 || agents.test(userAgent)) return true
  return titles.test(facts.system) || summaries.test(`${facts.system}\n${facts.lastUser}`)
}
