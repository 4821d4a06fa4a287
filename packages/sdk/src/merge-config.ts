import type { AgentConfig } from '@inspan/protocol/chat'

/** Replaces the fields that are given. A field that is given as `undefined` is removed, which means its default. */
export function mergeConfig(config: AgentConfig, given: AgentConfig): AgentConfig {
  const merged = { ...config, ...given }
  return Object.fromEntries(Object.entries(merged).filter(([, value]) => value !== undefined))
}

/** Whether the fields decide which model is used, or with whose credentials. */
export function needsResolving(given: AgentConfig): boolean {
  return 'modelId' in given || 'profile' in given || 'orgAlias' in given
}
