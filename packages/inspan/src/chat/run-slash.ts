import type { Client, ThreadSummary } from '@inspan/client'
import { InspanError } from '@inspan/protocol'
import type { Command } from '@inspan/protocol/wire'
import { helpLines, type SlashName } from './slash.ts'

export interface SlashHost {
  readonly client: Client
  send(command: Command): void
  leave(): void
}

const LISTED_THREADS = 20

/** Carries out a slash command. Returns what to show the user. */
export async function runSlash(name: SlashName, argument: string, host: SlashHost): Promise<readonly string[]> {
  const { client } = host
  switch (name) {
    case 'help':
      return helpLines()
    case 'new': {
      const { id } = await client.routes.createThread(argument === '' ? {} : { title: argument })
      await client.open(id)
      return ['This is a new thread.']
    }
    case 'threads':
      return argument === '' ? listThreads(client) : openThread(client, argument)
    case 'fork': {
      const { id } = await client.routes.forkThread(
        client.getState().thread,
        argument === '' ? {} : { title: argument },
      )
      await client.open(id)
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
      need(argument, '/model takes a model, such as provider/model.')
      host.send({ type: 'model', model: argument })
      return []
    case 'cancel':
      host.send({ type: 'cancel' })
      return []
    case 'quit':
      host.leave()
      return []
  }
}

function need(argument: string, message: string): void {
  if (argument === '') throw new InspanError('invalid-input', message)
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

export function titleOf({ id, title }: Pick<ThreadSummary, 'id' | 'title'>): string {
  return title ?? `untitled (${id})`
}
