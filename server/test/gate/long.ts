import paths from './long.json' with { type: 'json' }

/** What takes long, as patterns of paths: the files of `long.json`, and the folders that it names by a slash at their end. */
export const longFiles: string[] = paths.map((path) => (path.endsWith('/') ? `${path}**/*.test.ts` : path))
