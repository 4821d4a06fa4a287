import { basename } from 'node:path'
import { acp, type AcpOptions } from '@inspan/adapters'
import type { PermissionLevel } from '@inspan/adapters/reading'
import { createPolicy } from '@inspan/core/policy'
import type { AgentDriver } from '@inspan/protocol/driver'
import { UsageError } from './command.ts'

/** Returns the agent that a command starts. It speaks the Agent Client Protocol. */
export function acpAgent(line: string, options: Omit<AcpOptions, 'command' | 'args' | 'title'>): AgentDriver {
  const [command, ...args] = commandWords(line)
  if (command === undefined) throw new UsageError('--acp takes the command that starts the agent: --acp "gemini --acp"')
  return acp({ ...options, command, args, title: basename(command) })
}

/** Returns the rules for a level. What they do not allow is asked about, and nobody can be asked. */
export function levelPolicy(level: PermissionLevel = 'edit'): ReturnType<typeof createPolicy> {
  const read = { read: 'allow' } as const
  const edit = { ...read, edit: 'allow' } as const
  const full = { ...edit, execute: 'allow', mcp: 'allow', other: 'allow' } as const
  return createPolicy({ rules: { categories: { 'read-only': read, edit, full }[level] } })
}

/** Splits a command into words as a shell does, with quotes and backslashes. Nothing else has a meaning. */
export function commandWords(line: string): string[] {
  const words: string[] = []
  let word: string | undefined
  let quote = ''
  for (let i = 0; i < line.length; i++) {
    const letter = line.charAt(i)
    if (quote !== '' && letter === quote) quote = ''
    else if (quote === '' && (letter === '"' || letter === "'")) {
      quote = letter
      word ??= ''
    } else if (quote !== "'" && letter === '\\' && i + 1 < line.length) word = (word ?? '') + line.charAt(++i)
    else if (quote === '' && /\s/.test(letter)) {
      if (word !== undefined) words.push(word)
      word = undefined
    } else word = (word ?? '') + letter
  }
  if (quote !== '') throw new UsageError(`--acp has a quote that is not closed: ${line}`)
  return word === undefined ? words : [...words, word]
}
