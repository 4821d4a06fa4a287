import type { Redirection as RedirectionNode, RedirectOperator } from 'unbash'

import type { ShortenedText } from './here-documents.ts'
import type { Redirection, RedirectionKind } from './reading.ts'
import { readWord } from './words.ts'

const KINDS: Readonly<Record<RedirectOperator, RedirectionKind>> = {
  '<': 'read',
  '>': 'write',
  '>|': 'write',
  '>>': 'append',
  '<>': 'read-write',
  '<&': 'duplicate',
  '>&': 'duplicate',
  '&>': 'write',
  '&>>': 'append',
}

const DESCRIPTOR = /^(\d+-?|-)$/

export function readRedirection(node: RedirectionNode, shortened: ShortenedText | null): Redirection {
  const fd = node.descriptor === undefined ? defaultDescriptor(node.operator) : descriptorNumber(node)
  if (node.type === 'HereDoc') {
    const quoted = node.delimiter?.quoted === true
    const cut = quoted ? (shortened?.bodyAt(node.body.pos, node.delimiter.value) ?? '') : ''
    const fixed = quoted || node.body.parts === undefined
    return {
      kind: 'here-document',
      fd,
      target: null,
      body: fixed ? hereText(node.operator, cut + node.body.text) : null,
    }
  }
  const target = node.target === undefined ? null : readWord(node.target)
  if (node.type === 'HereString') {
    return { kind: 'here-string', fd, target, body: target === null || target.dynamic ? null : target.text }
  }
  let kind = KINDS[node.operator]
  // `>& name` sends both outputs to a file, and `>& $x` may do so.
  if (node.operator === '>&' && target !== null && !DESCRIPTOR.test(target.text)) kind = 'write'
  return { kind, fd, target, body: null }
}

function defaultDescriptor(operator: string): number | null {
  if (operator.startsWith('<')) return 0
  return operator.startsWith('&') ? null : 1
}

function descriptorNumber(node: RedirectionNode): number | null {
  return node.descriptor?.type === 'FileDescriptor' ? node.descriptor.value : null
}

function hereText(operator: '<<' | '<<-', body: string): string {
  return operator === '<<-' ? body.replace(/^\t+/gm, '') : body
}
