/** A conversation as a file: HTML, Markdown or JSON. */
export {
  exportConversation,
  EXPORT_FORMATS,
  type ExportedConversation,
  type ExportFormat,
} from './export-conversation.ts'
