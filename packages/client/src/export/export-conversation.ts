import { visible } from '@inspan/protocol/internal'
import type { HarnessToolCall, WireMessage } from '@inspan/protocol/wire'
import { asHtml } from './html.ts'

export const EXPORT_FORMATS = ['html', 'markdown', 'json'] as const
export type ExportFormat = (typeof EXPORT_FORMATS)[number]

export interface ExportedConversation {
  readonly id: string
  readonly title: string
  readonly createdAt: number
  readonly updatedAt: number
  readonly messages: readonly WireMessage[]
}

/** Returns a conversation as one file. HTML and Markdown contain no control sequences that tools have printed. */
export function exportConversation(conversation: ExportedConversation, format: ExportFormat): string {
  switch (format) {
    case 'json':
      return `${JSON.stringify(conversation, null, 2)}\n`
    case 'markdown':
      return asMarkdown(conversation)
    case 'html':
      return asHtml(conversation)
  }
}

function asMarkdown({ createdAt, id, messages, title }: ExportedConversation): string {
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
