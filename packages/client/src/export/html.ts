import { visible } from '@inspan/protocol/internal'
import type { HarnessToolCall, WireMessage } from '@inspan/protocol/wire'
import type { ExportedConversation } from './export-conversation.ts'

const STYLE = `
:root { color-scheme: light dark; --line: #d4d4d8; --soft: #52525b; --panel: #f4f4f5; }
@media (prefers-color-scheme: dark) { :root { --line: #3f3f46; --soft: #a1a1aa; --panel: #27272a; } }
body { font: 15px/1.55 system-ui, sans-serif; max-width: 48rem; margin: 2rem auto; padding: 0 1rem; }
article { margin: 1rem 0; } article.user { background: var(--panel); border-radius: 12px; padding: .5rem 1rem; }
p, pre { white-space: pre-wrap; overflow-wrap: anywhere; } pre { background: var(--panel); padding: .6rem; border-radius: 8px; }
details { border: 1px solid var(--line); border-radius: 8px; padding: .3rem .7rem; margin: .4rem 0; }
.soft { color: var(--soft); font-size: .85rem; }
`

/** One file: no scripts, nothing that is loaded, and nothing of the conversation is anything but text. */
export function asHtml({ createdAt, id, messages, title }: ExportedConversation): string {
  return [
    '<!doctype html>',
    '<html lang="en">',
    '<meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; style-src \'unsafe-inline\'">',
    `<title>${escaped(title)}</title>`,
    `<style>${STYLE}</style>`,
    `<h1>${escaped(title)}</h1>`,
    `<p class="soft">Thread ${escaped(id)}, ${new Date(createdAt).toISOString()}</p>`,
    ...messages.map(messageHtml),
    '</html>',
    '',
  ].join('\n')
}

function messageHtml({ content, createdAt, reasoning, role, toolCalls = [] }: WireMessage): string {
  const at = new Date(createdAt).toISOString()
  return [
    `<article class="${role === 'user' ? 'user' : 'agent'}">`,
    `<div class="soft">${role === 'user' ? 'You' : 'Agent'} · <time datetime="${at}">${at}</time></div>`,
    ...(reasoning === undefined ? [] : [`<details><summary>Reasoning</summary><p>${escaped(reasoning)}</p></details>`]),
    ...(content === '' ? [] : [`<p>${escaped(content)}</p>`]),
    ...toolCalls.map(callHtml),
    '</article>',
  ].join('\n')
}

function callHtml({ input, name, output, status }: HarnessToolCall): string {
  return [
    `<details><summary>${escaped(name)} <span class="soft">${status}</span></summary>`,
    ...(input === undefined ? [] : [`<pre>${escaped(JSON.stringify(input, null, 2))}</pre>`]),
    ...(output === undefined ? [] : [`<pre>${escaped(output)}</pre>`]),
    '</details>',
  ].join('\n')
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

function escaped(text: string): string {
  return visible(text).replaceAll(/[&<>"']/g, (char) => ENTITIES[char] ?? char)
}
