import {
  CombinedAutocompleteProvider,
  type AutocompleteItem,
  type AutocompleteProvider,
  type SlashCommand,
} from '@earendil-works/pi-tui'
import type { Client } from '@inspan/client'
import { visible } from '@inspan/protocol/internal'
import { fileNames } from './file-names.ts'
import { titleOf, usableModels } from './run-slash.ts'
import { SLASH_COMMANDS, type SlashName } from './slash.ts'

/** Completes slash commands with their arguments, and names of files after `@`. */
export function completionFor(client: Client, cwd: string): AutocompleteProvider {
  const commands = SLASH_COMMANDS.map(({ argument, description, name }): SlashCommand => {
    const items = ARGUMENTS[name]
    return {
      name,
      description,
      ...(argument === undefined ? {} : { argumentHint: argument }),
      ...(items === undefined ? {} : { getArgumentCompletions: (prefix) => matching(prefix, () => items(client)) }),
    }
  })
  const provider = new CombinedAutocompleteProvider(commands, cwd)
  return {
    getSuggestions: async (lines, cursorLine, cursorColumn, options) => {
      const before = (lines[cursorLine] ?? '').slice(0, cursorColumn)
      const typed = /(?:^|\s)@(\S*)$/.exec(before)?.[1]
      // The provider's own search for `@` needs a program that few people have.
      if (typed === undefined) return provider.getSuggestions(lines, cursorLine, cursorColumn, options)
      const names = await fileNames(cwd, typed)
      if (names.length === 0) return null
      return { prefix: `@${typed}`, items: names.map(({ label, path }) => ({ value: `@${path}`, label })) }
    },
    applyCompletion: provider.applyCompletion.bind(provider),
    shouldTriggerFileCompletion: provider.shouldTriggerFileCompletion.bind(provider),
  }
}

const ARGUMENTS: Readonly<Partial<Record<SlashName, (client: Client) => Promise<AutocompleteItem[]>>>> = {
  mode: modeItems,
  model: async (client) => (await usableModels(client)).map((id) => ({ value: id, label: id })),
  threads: threadItems,
}

async function matching(prefix: string, items: () => Promise<AutocompleteItem[]>): Promise<AutocompleteItem[] | null> {
  // A number is that of a list, not a part of a name.
  if (/^\d+$/.test(prefix)) return null
  try {
    const found = (await items()).filter(({ label }) => label.toLowerCase().includes(prefix.toLowerCase()))
    return found.length === 0 ? null : found
  } catch {
    // Completion is a convenience: without a server there is none.
    return null
  }
}

async function modeItems({ routes }: Client): Promise<AutocompleteItem[]> {
  return (await routes.modes()).modes.map(({ id, name }) => ({ value: id, label: id, description: name }))
}

async function threadItems({ routes }: Client): Promise<AutocompleteItem[]> {
  const { threads } = await routes.threads({ limit: 20 })
  return threads.map((thread) => ({ value: thread.id, label: visible(titleOf(thread)) }))
}
