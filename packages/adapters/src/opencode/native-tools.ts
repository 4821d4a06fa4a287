import type { NativeTools } from '../launch/offered-tools.ts'

/** Tools by their names in OpenCode's permissions, where `edit` means everything that changes files. */
export const opencodeNativeTools: NativeTools = {
  categories: {
    read: ['read', 'glob', 'grep', 'list', 'lsp'],
    edit: ['edit'],
    execute: ['bash'],
    other: ['webfetch', 'websearch', 'codesearch'],
  },
  harmless: ['task', 'skill', 'todowrite'],
  kinds: {
    shell: ['bash'],
    read: ['read'],
    search: ['grep'],
    list: ['glob', 'list'],
    write: ['edit'],
    edit: ['edit'],
    'web-search': ['websearch', 'codesearch'],
    'web-fetch': ['webfetch'],
    subagent: ['task'],
    skill: ['skill'],
  },
}
