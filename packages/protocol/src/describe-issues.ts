/** A problem as Standard Schema and zod report it. */
interface SchemaIssue {
  readonly message: string
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined
}

/** One line for all problems of a value, each after the path to the field that has it. */
export function describeIssues(issues: readonly SchemaIssue[]): string {
  return issues.map(describeIssue).join('; ')
}

function describeIssue({ message, path = [] }: SchemaIssue): string {
  const at = path.map((segment) => String(typeof segment === 'object' ? segment.key : segment)).join('.')
  return at === '' ? message : `${at}: ${message}`
}
