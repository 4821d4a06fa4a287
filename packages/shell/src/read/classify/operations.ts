/** What a command did to files, when that is all it did. */
export type FileOperation =
  | {
      readonly kind: 'read'
      readonly path: string
      readonly startLine?: number
      readonly endLine?: number
      readonly success?: boolean
    }
  | { readonly kind: 'search'; readonly query: string; readonly path?: string; readonly success?: boolean }
  | { readonly kind: 'list'; readonly path?: string; readonly success?: boolean }
