/** What a command runs, without what that means for files: loads a third of the code. */
export { quote } from './quote.ts'
export { readCommand } from './read-command.ts'
