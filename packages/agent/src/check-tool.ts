import {
  aFlag,
  aFunction,
  anObject,
  aText,
  checkOptions,
  either,
  oneOf,
  words,
  type OptionRules,
} from '@inspan/protocol/internal'
import type { Tool } from './create-tool.ts'

const schema = either(anObject, aFunction)

const TOOL: OptionRules<Tool> = {
  id: aText,
  description: words,
  inputSchema: schema,
  outputSchema: schema,
  suspendSchema: schema,
  resumeSchema: schema,
  requireApproval: either(aFlag, aFunction),
  category: oneOf('read', 'edit', 'execute', 'mcp', 'other'),
  idempotent: aFlag,
  onInterrupted: oneOf('report', 'ask', 'retry'),
  annotations: anObject,
  execute: aFunction,
  toModelOutput: aFunction,
}

/** Throws if a tool is defined wrongly, and says why. */
export function checkTool(tool: Tool): void {
  const what = typeof tool === 'object' && tool !== null && typeof tool.id === 'string' ? `tool "${tool.id}"` : 'a tool'
  checkOptions(what, tool, TOOL, ['id', 'description', 'execute'])
}
