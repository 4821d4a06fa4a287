import { emptyHead, storedHead, viewFrom } from '@inspan/protocol/log'
import type { StoredMessage } from '@inspan/protocol'
import type { Store } from '@inspan/protocol/store'
import { toHarnessState, type HarnessToolCall, type WireMessage } from '@inspan/protocol/wire'
import { headOf } from '../read-thread.ts'
import { visible } from '../visible-text.ts'
import { asHtml } from './html.ts'

export const EXPORT_FORMATS = ['html', 'markdown', 'json'] as const
export type ExportFormat = (typeof EXPORT_FORMATS)[number]

export interface ExportedThread {
  readonly id: string
  readonly title: string
  readonly createdAt: number
  readonly updatedAt: number
  readonly messages: readonly WireMessage[]
}

const PAGE = 500

export async function exportThread(store: Store, thread: string, format: ExportFormat): Promise<string> {
  const exported = await readExported(store, thread)
  switch (format) {
    case 'json':
      return `${JSON.stringify(exported, null, 2)}\n`
    case 'markdown':
      return asMarkdown(exported)
    case 'html':
      return asHtml(exported)
  }
}

async function readExported(store: Store, thread: string): Promise<ExportedThread> {
  const head = await headOf(store, thread)
  const info = await store.getThread(thread)
  const stored: StoredMessage[] = []
  let cursor: string | null = null
  do {
    const from: { cursor?: string } = cursor === null ? {} : { cursor }
    const page = await store.listMessages(head.lineage, { order: 'oldest', limit: PAGE, ...from })
    stored.push(...page.items)
    cursor = page.next
  } while (cursor !== null)
  const { messages } = toHarnessState(viewFrom({ seq: 0, head: storedHead(emptyHead(thread)), messages: stored }))
  return {
    id: thread,
    title: head.title ?? info?.title ?? 'Untitled',
    createdAt: info?.createdAt ?? 0,
    updatedAt: info?.updatedAt ?? 0,
    messages,
  }
}

function asMarkdown({ createdAt, id, messages, title }: ExportedThread): string {
  const parts = messages.map(({ content, reasoning, role, toolCalls = [] }) =>
    [
      role === 'user' ? '## You' : '## Agent',
      ...(reasoning === undefined ? [] : [reasoning.replaceAll(/^/gm, '> ')]),
      ...(content === '' ? [] : [content.trim()]),
      ...toolCalls.map(callMarkdown),
    ].join('\n\n'),
  )
  return visible(`# ${title}\n\nThread ${id}, ${new Date(createdAt).toISOString()}\n\n${parts.join('\n\n')}\n`)
}

function callMarkdown({ input, name, output, status }: HarnessToolCall): string {
  const asked = input === undefined ? '' : `\n\n${fenced('json', JSON.stringify(input, null, 2))}`
  const got = output === undefined ? '' : `\n\n${fenced('', output)}`
  return `**${name}** (${status})${asked}${got}`
}

/** A fence that is longer than any in the text. */
function fenced(language: string, text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`{3,}/g)].map(([ticks]) => ticks.length))
  const fence = '`'.repeat(longest + 1)
  return `${fence}${language}\n${text}\n${fence}`
}
