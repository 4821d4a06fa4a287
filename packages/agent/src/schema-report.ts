import { InspanError } from '@inspan/protocol'
import { schemaProblems } from './json-schema-check.ts'
import { isStandard, type SchemaInput } from './schema.ts'

/**
 * Warns if a plain JSON Schema has keywords that are not checked, so that nobody relies on them, and throws if it is
 * invalid. Schemas of a library are checked by the library.
 */
export function reportSchema(schema: SchemaInput | undefined, what: string): void {
  if (schema === undefined || isStandard(schema)) return
  const { broken, unchecked } = schemaProblems(schema)
  if (broken.length > 0) {
    throw new InspanError('invalid-input', `The schema of ${what} cannot be checked: ${broken.join(', ')}.`, {
      hint: 'References have to be within the schema, and patterns regular expressions.',
    })
  }
  if (unchecked.length === 0) return
  const message = `The schema of ${what} says more than is checked: ${unchecked.join(', ')}.`
  const detail = 'Check it in the tool, or use a schema of a library such as zod.'
  process.emitWarning(message, { type: 'InspanWarning', code: 'INSPAN_UNCHECKED_SCHEMA', detail })
}
