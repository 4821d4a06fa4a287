import { anthropic } from './anthropic.ts'
import { chat } from './chat.ts'
import { responses } from './responses.ts'
import type { WireFormat } from './wire.ts'

export type Endpoint =
  | { readonly kind: 'model'; readonly format: WireFormat }
  | { readonly kind: 'count-tokens' }
  | { readonly kind: 'models'; readonly id: string | undefined }
  | { readonly kind: 'probe' }
  | { readonly kind: 'unknown' }

/** Base addresses differ (`/v1`, a path of a gateway, nothing), so only the end of the path counts. */
export function endpointOf(method: string, url: string): Endpoint {
  const path = url.split('?')[0] ?? ''
  if (method === 'POST') {
    if (path.endsWith('/messages/count_tokens')) return { kind: 'count-tokens' }
    if (path.endsWith('/messages')) return { kind: 'model', format: anthropic }
    if (path.endsWith('/responses')) return { kind: 'model', format: responses }
    if (path.endsWith('/chat/completions')) return { kind: 'model', format: chat }
  }
  if (method === 'GET') {
    const models = /\/models(?:\/(.+))?$/.exec(path)
    if (models !== null) return { kind: 'models', id: models[1] === undefined ? undefined : decode(models[1]) }
  }
  // Claude Code checks with `HEAD` before its first turn whether the server is there.
  return { kind: method === 'HEAD' ? 'probe' : 'unknown' }
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}
