import { CombinedAutocompleteProvider, type AutocompleteItem, type SlashCommand } from '@earendil-works/pi-tui'
import type { Client } from '@inspan/client'
import { visible } from '../visible-text.ts'
import { titleOf } from './run-slash.ts'
import { SLASH_COMMANDS, type SlashName } from './slash.ts'

/** Completes slash commands with their arguments, and names of files after `@`. */
export function completionFor(client: Client, cwd: string): CombinedAutocompleteProvider {
  const commands = SLASH_COMMANDS.map(({ argument, description, name }): SlashCommand => {
    return {
      name,
      description,
      ...(argument === undefined ? {} : { argumentHint: argument }),
      ...(hasCompletions(name) ? { getArgumentCompletions: (prefix) => argumentsOf(client, name, prefix) } : {}),
    }
  })
  return new CombinedAutocompleteProvider(commands, cwd)
}

function hasCompletions(name: SlashName): boolean {
  return name === 'mode' || name === 'threads'
}

async function argumentsOf(client: Client, name: SlashName, prefix: string): Promise<AutocompleteItem[] | null> {
  try {
    const all = name === 'mode' ? await modeItems(client) : await threadItems(client)
    const found = all.filter(({ label }) => label.toLowerCase().includes(prefix.toLowerCase()))
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
