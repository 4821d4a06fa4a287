import type { ToolAnnotations, ToolOrigin } from '@inspan/protocol'
import type { RunnableTool } from '@inspan/protocol/driver'

export type { RunnableTool, ToolRunContext } from '@inspan/protocol/driver'

/** Whether an interrupted call may be repeated: only if repeating changes nothing. */
export function mayRepeat(tool: RunnableTool): boolean {
  const { idempotentHint, readOnlyHint } = originOf(tool).annotations ?? {}
  return tool.isIdempotent === true || readOnlyHint === true || idempotentHint === true
}

/** Returns the server of a tool and the annotations we trust: of a server's, none that would lower caution. */
export function originOf({ annotations, serverName }: RunnableTool): ToolOrigin {
  if (serverName === undefined) return annotations === undefined ? {} : { annotations }
  return { serverName, ...(annotations === undefined ? {} : { annotations: onlyCaution(annotations) }) }
}

function onlyCaution(given: ToolAnnotations): ToolAnnotations {
  const { destructiveHint, idempotentHint, openWorldHint, readOnlyHint, title } = given
  return {
    ...(title === undefined ? {} : { title }),
    ...(readOnlyHint === false ? { readOnlyHint } : {}),
    ...(destructiveHint === true ? { destructiveHint } : {}),
    ...(idempotentHint === false ? { idempotentHint } : {}),
    ...(openWorldHint === true ? { openWorldHint } : {}),
  }
}
