/** What a command runs, without what it means for files: a third of what there is to load. */
export { quote } from './quote.ts'
export { readCommand } from './read-command.ts'
