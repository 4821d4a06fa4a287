import type * as Parser from '@actions/workflow-parser'
import { build } from 'esbuild'

type WorkflowParser = typeof Parser

/** Returns what the parser of GitHub Actions complains about in a workflow. */
export async function workflowProblems(name: string, content: string): Promise<readonly string[]> {
  const { convertWorkflowTemplate, NoOperationTraceWriter, parseWorkflow } = await parser()
  const { context, value } = parseWorkflow({ name, content }, new NoOperationTraceWriter())
  if (value !== undefined) await convertWorkflowTemplate(context, value)
  return context.errors.getErrors().map((error) => error.message)
}

let loaded: Promise<WorkflowParser> | undefined

/** The parser imports JSON as bundlers allow it, so it is bundled. */
function parser(): Promise<WorkflowParser> {
  loaded ??= load()
  return loaded
}

async function load(): Promise<WorkflowParser> {
  const { outputFiles } = await build({
    stdin: { contents: "export * from '@actions/workflow-parser'", resolveDir: import.meta.dirname },
    bundle: true,
    format: 'esm',
    platform: 'node',
    write: false,
    banner: { js: "import { createRequire } from 'node:module'; const require = createRequire('/');" },
  })
  const code = Buffer.from(outputFiles[0]?.contents ?? []).toString('base64')
  return (await import(`data:text/javascript;base64,${code}`)) as WorkflowParser
}
