import type { Client, ThreadSummary } from '@inspan/client'
import { InspanError, type Grants, type GrantScope } from '@inspan/protocol'
import type { Command } from '@inspan/protocol/wire'
import { oneLine } from '../one-line.ts'
import { helpLines, type SlashName } from './slash.ts'

export interface SlashHost {
  readonly client: Client
  send(command: Command): void
  leave(): void
  /** Puts a text into the clipboard of the terminal. */
  copy(text: string): void
}

const LISTED_THREADS = 20
const LISTED_MODELS = 30

/** Carries out a slash command. Returns what to show the user. */
export async function runSlash(name: SlashName, argument: string, host: SlashHost): Promise<readonly string[]> {
  const { client } = host
  switch (name) {
    case 'help':
      return helpLines()
    case 'new': {
      await openMade(host, await client.routes.createThread(argument === '' ? {} : { title: argument }))
      return ['This is a new thread.']
    }
    case 'threads':
      return argument === '' ? listThreads(client) : openThread(client, argument)
    case 'fork': {
      const { thread } = client.getState()
      await openMade(host, await client.routes.forkThread(thread, argument === '' ? {} : { title: argument }))
      return ['This is a copy. The thread before it stays as it was.']
    }
    case 'rename':
      need(argument, '/rename takes a title.')
      host.send({ type: 'rename', title: argument })
      return []
    case 'mode': {
      if (argument === '') return listModes(client)
      host.send({ type: 'mode', mode: argument })
      return []
    }
    case 'model':
      if (argument === '') return listModels(client)
      host.send({ type: 'model', model: argument })
      return []
    case 'files':
      return changedFiles(client)
    case 'rewind':
      return rewind(client, argument)
    case 'grants':
      return argument === '' ? listGrants(client) : revokeGrant(client, argument)
    case 'copy': {
      const answer = client.getState().messages.findLast(({ content, role }) => role === 'assistant' && content !== '')
      if (answer === undefined) throw new InspanError('not-found', 'There is no answer to copy yet.')
      host.copy(answer.content)
      return ['Copied, if your terminal allows it.']
    }
    case 'cancel':
      host.send({ type: 'cancel' })
      return []
    case 'quit':
      host.leave()
      return []
  }
}

/** The title of a new thread is only in the list of threads until it is recorded in the thread itself. */
async function openMade(host: SlashHost, { id, title }: ThreadSummary): Promise<void> {
  await host.client.open(id)
  if (title !== null) host.send({ type: 'rename', title })
}

function need(argument: string, message: string): void {
  if (argument === '') throw new InspanError('invalid-input', message)
}

async function changedFiles(client: Client): Promise<readonly string[]> {
  const files = await client.routes.changedFiles(client.getState().thread)
  if (files.length === 0) return ['This thread has changed no files.']
  return files.flatMap(({ diff, path, status }) => [
    `${status} ${path}`,
    ...(diff === undefined ? [] : diff.split('\n')),
  ])
}

interface ListedGrant {
  readonly text: string
  readonly command: Command
}

/** Returns what is allowed in this thread and in the whole project, in the order of its numbers. */
async function grantsOf(client: Client): Promise<readonly ListedGrant[]> {
  const { project, resource, thread } = await client.routes.grants(client.getState().thread)
  const listed = ({ categories, tools }: Grants, scope: GrantScope, where: string): readonly ListedGrant[] => [
    ...tools.map((tool) => ({ text: `${tool}  ${where}`, command: { type: 'revoke', scope, tool } as const })),
    ...categories.map((category) => ({
      text: `every ${category}  ${where}`,
      command: { type: 'revoke', scope, category } as const,
    })),
  ]
  return [...listed(thread, 'thread', 'in this thread'), ...listed(project, 'resource', `in the project ${resource}`)]
}

async function listGrants(client: Client): Promise<readonly string[]> {
  const all = await grantsOf(client)
  if (all.length === 0) return ['Nothing is allowed beyond the rules.']
  return [...all.map(({ text }, index) => `${String(index + 1).padStart(3)}  ${text}`), '/grants <number> revokes it.']
}

async function revokeGrant(client: Client, argument: string): Promise<readonly string[]> {
  const grant = (await grantsOf(client))[Number(argument) - 1]
  if (grant === undefined) {
    throw new InspanError('not-found', `There is no grant ${argument}.`, { hint: '/grants lists them.' })
  }
  const receipt = await client.send(grant.command).receipt
  if (receipt.status !== 'done') throw new InspanError('misuse', receipt.message ?? 'The server refused it.')
  return [`Revoked: ${grant.text}`]
}

/** Without a number it lists messages; with one it only reports; with `yes` it rewinds. */
async function rewind(client: Client, argument: string): Promise<readonly string[]> {
  const [given = '', confirmed] = argument.split(/\s+/)
  const asked = client.getState().messages.filter(({ role }) => role === 'user')
  if (given === '') {
    const rows = asked.map(({ content }, index) => `${String(index + 1).padStart(3)}  ${oneLine(content)}`)
    return [...rows, '/rewind <number> shows what going back to before that message would change.']
  }
  const message = asked[Number(given) - 1]
  if (message === undefined) throw new InspanError('not-found', `There is no message ${given}.`)
  const dryRun = confirmed !== 'yes'
  const command = { type: 'rewind', messageId: message.id, scope: 'both', dryRun } as const
  const receipt = await client.send(command).receipt
  if (receipt.status !== 'done') throw new InspanError('misuse', receipt.message ?? 'The server refused it.')
  if (!dryRun) return ['Rewound. Nothing is erased.']
  const report = Object.entries((receipt.result ?? {}) as Readonly<Record<string, readonly string[]>>)
  const lines = report.flatMap(([what, paths]) => (paths.length === 0 ? [] : [`${what}: ${paths.join(', ')}`]))
  return [...(lines.length === 0 ? ['No file would change.'] : lines), `/rewind ${given} yes does it.`]
}

async function listThreads(client: Client): Promise<readonly string[]> {
  const { threads } = await client.routes.threads({ limit: LISTED_THREADS })
  const { thread } = client.getState()
  const rows = threads.map((each, index) => {
    const mark = each.id === thread ? '*' : ' '
    return `${mark} ${String(index + 1).padStart(2)}  ${titleOf(each)}`
  })
  return [...rows, '/threads <number> opens one.']
}

async function openThread(client: Client, argument: string): Promise<readonly string[]> {
  const { threads } = await client.routes.threads({ limit: LISTED_THREADS })
  const found = threads.find(({ id }) => id === argument) ?? threads[Number(argument) - 1]
  if (found === undefined) {
    throw new InspanError('not-found', `There is no thread ${argument}.`, { hint: '/threads lists them.' })
  }
  await client.open(found.id)
  return []
}

async function listModes(client: Client): Promise<readonly string[]> {
  const { default: usual, modes } = await client.routes.modes()
  const current = client.getState().head.mode ?? usual
  return modes.map(({ description, id }) => {
    return `${id === current ? '*' : ' '} ${id}${description === undefined ? '' : `  ${description}`}`
  })
}

/** Returns the models that there is a key for. */
export async function usableModels({ routes }: Client): Promise<readonly string[]> {
  return (await routes.models()).flatMap(({ hasApiKey, id }) =>
    typeof id === 'string' && hasApiKey !== false ? [id] : [],
  )
}

async function listModels(client: Client): Promise<readonly string[]> {
  const models = await usableModels(client)
  if (models.length === 0) return ['No models are known here. /model <name> sets one, as the agent names it.']
  const { head } = client.getState()
  const { default: usual, modes } = await client.routes.modes()
  const current = head.model ?? modes.find(({ id }) => id === (head.mode ?? usual))?.defaultModelId
  const left = models.length - LISTED_MODELS
  return [
    ...models.slice(0, LISTED_MODELS).map((id) => `${id === current ? '*' : ' '} ${id}`),
    ...(left > 0 ? [`  … and ${left} more: type a part of the name after /model`] : []),
  ]
}

export function titleOf({ id, title }: Pick<ThreadSummary, 'id' | 'title'>): string {
  return title ?? `untitled (${id})`
}
