export { classify } from './classify/classify.ts'
export type { ClassifyOptions } from './classify/classify.ts'
export type { FileOperation } from './classify/operations.ts'
export { directoryAfter } from './directory-after.ts'
export { limits } from './limits.ts'
export { quote } from './quote.ts'
export { readCommand } from './read-command.ts'
export type {
  Assignment,
  Expansion,
  Joiner,
  Launcher,
  Nesting,
  Origin,
  ReadOptions,
  Redirection,
  RedirectionKind,
  ShellReading,
  SimpleCommand,
  Span,
  Word,
} from './reading.ts'
