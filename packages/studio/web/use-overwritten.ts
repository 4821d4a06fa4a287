import { useContext, useEffect, useState } from 'react'
import type { HarnessToolCall } from '@inspan/protocol/wire'
import { NestedContext } from './nested.ts'
import { pathIn } from './path-in.ts'

/**
 * Returns what a file was before a call replaced it. Undefined where that is not certain: while the turn goes on, and for
 * a file that more than this call has changed.
 */
export function useOverwritten({ input = {}, status }: HarnessToolCall): string | undefined {
  const { client, messages, thread } = useContext(NestedContext)
  const [before, setBefore] = useState<string | undefined>(undefined)
  const path = pathIn(input)
  const content = input['content']
  useEffect(() => {
    if (client === undefined || path === undefined || typeof content !== 'string' || status !== 'complete') return
    const calls = messages().flatMap(({ toolCalls = [] }) => toolCalls)
    if (calls.filter((each) => each.status === 'complete' && changes(each, path)).length !== 1) return
    let isCurrent = true
    client.routes.changedFiles(thread).then(
      (files) => {
        const file = files.find((each) => path === each.path || path.endsWith(`/${each.path}`))
        if (isCurrent && file?.after === content) setBefore(file.before)
      },
      // The new content is shown all the same.
      () => undefined,
    )
    return () => {
      isCurrent = false
    }
  }, [client, content, messages, path, status, thread])
  return before
}

function changes({ input = {} }: HarnessToolCall, path: string): boolean {
  return pathIn(input) === path && ['content', 'new_string', 'edits'].some((name) => name in input)
}
