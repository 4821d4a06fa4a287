import type { Client } from '@inspan/client'
import { exportConversation, type ExportFormat } from '@inspan/client/export'
import type { StoredMessage } from '@inspan/protocol'
import { download } from './download.ts'
import { shownMessages } from './shown-messages.ts'

export const EXPORT_NAMES: Readonly<Record<ExportFormat, string>> = {
  html: 'HTML',
  markdown: 'Markdown',
  json: 'JSON',
}

const TYPES = {
  html: ['html', 'text/html'],
  markdown: ['md', 'text/markdown'],
  json: ['json', 'application/json'],
} as const
const PAGE = 1000

/** Downloads the thread that is shown, from its first message on. */
export async function exportThread(client: Client, format: ExportFormat): Promise<void> {
  const { head, thread } = client.getState()
  const stored = await allMessages(client, thread)
  const listed = await client.routes.thread(thread)
  const text = exportConversation(
    {
      id: thread,
      title: head.title ?? listed.title ?? 'Untitled',
      createdAt: listed.createdAt,
      updatedAt: listed.updatedAt,
      messages: shownMessages(stored),
    },
    format,
  )
  const [ending, type] = TYPES[format]
  download(`thread.${ending}`, type, text)
}

/** Reads a whole thread, oldest first. */
export async function allMessages(client: Client, thread: string): Promise<readonly StoredMessage[]> {
  const pages: (readonly StoredMessage[])[] = []
  let before: number | null | undefined
  while (before !== null) {
    const page = await client.routes.messages(thread, { limit: PAGE, ...(before === undefined ? {} : { before }) })
    pages.unshift(page.messages)
    ;({ before } = page)
  }
  return pages.flat()
}
