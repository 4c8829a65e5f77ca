import path from 'node:path'
import type { Log } from '../log.ts'
import { type Bundle, type BundleFiles, createBundle, repository } from './kept-bundle.ts'

/** The program of the demo and its style, `main.js` and `main.css`: bundled by esbuild. */
export function createDemoBundle(log: Log): Bundle {
  return createBundle(log, {
    name: 'demo',
    sources: ['react/src', 'react/demo', 'client/src', 'react/styles.css'],
    kept: 'react/dist/demo',
    build,
  })
}

async function build(): Promise<BundleFiles | undefined> {
  const esbuild = await import('esbuild').catch(() => undefined)
  if (esbuild === undefined) return undefined
  const { outputFiles } = await esbuild.build({
    entryPoints: ['main.tsx', 'demo.css'].map((name) => ({
      in: path.join(repository, 'react/demo', name),
      out: 'main',
    })),
    ...{ bundle: true, minify: true, write: false, format: 'esm', target: 'es2022', jsx: 'automatic', outdir: '.' },
    conditions: ['source'],
    define: { 'process.env.NODE_ENV': '"production"' },
    logLevel: 'silent',
  })
  return new Map(outputFiles.map((file) => [path.basename(file.path), Buffer.from(file.contents)]))
}
