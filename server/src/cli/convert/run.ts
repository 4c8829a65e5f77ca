import { stat } from 'node:fs/promises'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { ConvertFailure } from './failure.ts'
import { createIds, readIds } from './ids.ts'
import { convertMattermost } from './mattermost.ts'
import { type Counts, createOutput } from './output.ts'
import { createReasons, type Reasons } from './reasons.ts'
import { convertRocketChat } from './rocketchat.ts'
import { convertSlack } from './slack.ts'

const help = `Usage: parley convert slack|mattermost|rocketchat <export> --into <folder> [options]

Makes an import folder (parley import --help) of an export of another chat system:
  slack        the folder of an unzipped workspace export
  mattermost   the folder of an unzipped bulk export: a .jsonl file, and files under data/
  rocketchat   the folder of a mongodump of its database: users.bson, rocketchat_room.bson, rocketchat_message.bson,
               rocketchat_subscription.bson, and the uploads if they are in the database

The folder has users, groups, members and messages, the table of old and new ids (ids.ndjson), and report.json: what has
no counterpart here, what became of it, and what can be done. The same export gives the same folder.

Options:
  --into <folder>     where to; it must be empty or not exist
  --files <address>   http or https address at which you will serve the folder files/ of the output, for mattermost and
                      rocketchat; without it, messages have the names of their files only
  --ids <file>        ids.ndjson of an earlier run, so that people and channels keep their new ids
  --help              show this text

Exit codes: 0 done, 1 the export cannot be read and nothing was written, 2 wrong usage.
`

const sources = { slack: convertSlack, mattermost: convertMattermost, rocketchat: convertRocketChat } as const

class UsageError extends Error {}

/** Runs `parley convert`. @returns the exit code */
export async function convertCommand(args: string[]): Promise<number> {
  try {
    const { values, positionals } = parseArgs({
      args,
      allowPositionals: true,
      options: {
        into: { type: 'string' },
        files: { type: 'string' },
        ids: { type: 'string' },
        help: { type: 'boolean', short: 'h' },
      },
    })
    if (values.help === true) {
      process.stdout.write(help)
      return 0
    }
    const [source = '', folder, ...rest] = positionals
    if (!Object.hasOwn(sources, source)) throw new UsageError(`there is no source "${source}"`)
    if (folder === undefined || rest.length > 0) throw new UsageError('name one folder that holds the export')
    if (values.into === undefined) throw new UsageError('name the folder to write by --into')
    if (values.files !== undefined && !/^https?:\/\/[^/]/.test(values.files)) {
      throw new UsageError(`--files must start with http:// or https://; it is "${values.files}"`)
    }
    const found = await stat(folder).catch(() => undefined)
    if (found?.isDirectory() !== true) throw new UsageError(`${folder} is no folder; unzip the export first`)
    return await convert(source as keyof typeof sources, folder, values.into, values)
  } catch (error) {
    const isUsage = error instanceof UsageError || (error as { code?: string }).code?.startsWith('ERR_PARSE_ARGS')
    if (!isUsage && !(error instanceof ConvertFailure)) throw error
    process.stderr.write(`parley convert: ${(error as Error).message}\n${isUsage ? `\n${help}` : ''}`)
    return isUsage ? 2 : 1
  }
}

interface Values {
  readonly files?: string | undefined
  readonly ids?: string | undefined
}

async function convert(source: keyof typeof sources, folder: string, into: string, values: Values): Promise<number> {
  const ids = createIds(values.ids === undefined ? [] : await readIds(values.ids))
  const reasons = createReasons()
  const output = await createOutput(path.resolve(into), ids, reasons, Math.floor(Date.now() / 1000))
  try {
    const files = { address: values.files?.replace(/\/+$/, ''), folder: output.filesFolder }
    await sources[source](folder, output, reasons, files)
    process.stdout.write(summarise(into, await output.finish(source), reasons))
    return 0
  } catch (error) {
    await output.discard()
    throw error
  }
}

function summarise(into: string, counts: Counts, reasons: Reasons): string {
  const records = Object.entries(counts).map(([kind, count]) => `${kind.padEnd(10)} ${count}\n`)
  const found = reasons.list().map(({ code, outcome, count }) => `${outcome.padEnd(8)} ${code.padEnd(26)} ${count}\n`)
  const about =
    found.length === 0 ? [] : ['\n', ...found, `\n${path.join(into, 'report.json')} says what each means.\n`]
  return [...records, ...about, `\nNext: parley import ${into}\n`].join('')
}
