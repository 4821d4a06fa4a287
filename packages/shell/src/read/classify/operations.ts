/** What a command did to files, if it did nothing else. */
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
