import type { RequestFacts } from './request-facts.ts'

// Command line agents say who they are. They offer tools in every request of the conversation itself.
const agents = /claude-cli|codex|opencode|kilo|goose/i

const instructions = /title generator|generate [^.\n]{0,60}title|conversation name|context checkpoint compaction/i

/**
 * Agents also ask for titles, names and summaries, and probe whether the key works. Such requests carry no tools; but
 * neither do those of a plain chat, so there must be a sign that an agent sent it.
 */
export function looksLikeSideRequest(
  facts: RequestFacts,
  client: { readonly userAgent: string; readonly agentSeen: boolean },
): boolean {
  if (facts.hasTools) return false
  if (facts.maxTokens === 1 || client.agentSeen) return true
  return agents.test(client.userAgent) || instructions.test(`${facts.system}\n${facts.opening}`)
}
