/** Everything that an export has and an import folder cannot hold as it is: what became of it, and what can be done. */
export const reasons = {
  'archived-channel': {
    outcome: 'changed',
    what: 'The channel was archived. It became an ordinary group with the tag "archived".',
    remedy: 'Remove its members after the import, if nobody should write to it.',
  },
  'custom-emoji': {
    outcome: 'changed',
    what: 'An emoji of the workspace, which has no character. It stays as its name between colons.',
    remedy: 'Show your own pictures for these names in the front end.',
  },
  'conversation-with-oneself': {
    outcome: 'changed',
    what: 'Somebody wrote to themselves. It became a private group with one member.',
    remedy: 'None is needed.',
  },
  'deleted-message': {
    outcome: 'changed',
    what: 'The message was deleted, and the export still has its place. It became a deleted message.',
    remedy: 'None is needed.',
  },
  'direct-group': {
    outcome: 'changed',
    what: 'A direct conversation of more than two people. It became a private group.',
    remedy: 'None is needed.',
  },
  'encrypted-message': {
    outcome: 'skipped',
    what: 'The message is encrypted from end to end, so the export does not have its text.',
    remedy: 'None: only the devices of the people who wrote can read it.',
  },
  'empty-message': {
    outcome: 'skipped',
    what: 'The message has neither text nor files.',
    remedy: 'None is needed.',
  },
  'file-without-address': {
    outcome: 'changed',
    what: 'The file is in the export, but no address was given for it. The message keeps its name as text.',
    remedy: 'Repeat with --files <address>, and serve the folder files/ of the output there.',
  },
  'file-not-in-export': {
    outcome: 'changed',
    what: 'The export names a file, but does not have it. The message keeps its name as text.',
    remedy: 'Export again with files, or copy the file by hand.',
  },
  'file-link-of-export': {
    outcome: 'changed',
    what: 'The file is a link into the old system, which ends when the export is revoked or the old system is switched off.',
    remedy: 'Copy the files, and put their new addresses into messages.ndjson before the import.',
  },
  'folder-without-channel': {
    outcome: 'skipped',
    what: 'A folder with messages that belongs to none of the channels and conversations that the export describes.',
    remedy: 'If its name was spoilt when the export was unpacked, name it as in channels.json, and convert again.',
  },
  'hidden-message': {
    outcome: 'skipped',
    what: 'The old system hid the message from everybody: a text from before an edit, or a message that was deleted.',
    remedy: 'None is needed.',
  },
  'link-preview': {
    outcome: 'changed',
    what: 'The message showed what is behind a link in its text. The link stays, the preview is left out.',
    remedy: 'None is needed: the front end can show previews of links.',
  },
  'member-without-user': {
    outcome: 'skipped',
    what: 'A membership of somebody whom the export does not describe, and who wrote nothing.',
    remedy: 'Add the user to users.ndjson, and the membership to members.ndjson.',
  },
  'pinned-message': {
    outcome: 'changed',
    what: 'The message was pinned, and the export does not say by whom and when. It is pinned by the app, since it was sent.',
    remedy: 'None is needed.',
  },
  'reactions-without-users': {
    outcome: 'changed',
    what: 'The export counts more reactions than it names people. Those of nobody are left out.',
    remedy: 'None: the export does not say who it was.',
  },
  'saved-message': {
    outcome: 'changed',
    what: 'Somebody saved or starred the message, and the export does not say when. It is saved since it was sent.',
    remedy: 'None is needed.',
  },
  'shortened-name': {
    outcome: 'changed',
    what: 'A name was longer than 100 characters, and was cut.',
    remedy: 'Change it after the import.',
  },
  'split-message': {
    outcome: 'changed',
    what: 'The text was longer than a message can be. It became several messages.',
    remedy: 'None is needed.',
  },
  'system-message': {
    outcome: 'skipped',
    what: 'The system said that something happened: somebody joined, a topic changed, a call began.',
    remedy: 'None is needed: members and groups are imported as they are now.',
  },
  'quote-without-message': {
    outcome: 'changed',
    what: 'The message that was quoted is not in the same conversation of the export. What was said about it stays.',
    remedy: 'None is needed.',
  },
  'reply-without-thread': {
    outcome: 'changed',
    what: 'The message that was answered is not in the export. The reply became an ordinary message.',
    remedy: 'Export again, with the time before.',
  },
  'shown-in-channel': {
    outcome: 'changed',
    what: 'A reply that was also shown in its channel. It is a reply only.',
    remedy: 'None is needed.',
  },
  'too-many-reactions': {
    outcome: 'changed',
    what: 'The message had more different reactions than one can have here. The first of them were taken.',
    remedy: 'None is needed.',
  },
  'user-not-in-export': {
    outcome: 'changed',
    what: 'Messages name somebody whom the export does not describe. They became a deactivated user with the name that is known.',
    remedy: 'Change name and avatar in users.ndjson before the import.',
  },
  'record-not-valid': {
    outcome: 'skipped',
    what: 'The record breaks a rule of imports; the report has the rule.',
    remedy: 'Correct the export, or add the record to the folder by hand.',
  },
} as const satisfies Record<string, { outcome: 'changed' | 'skipped'; what: string; remedy: string }>

export type ReasonCode = keyof typeof reasons

/** So many of each reason are named in the report. */
const examplesOfEach = 20

interface Counted {
  count: number
  readonly examples: string[]
}

/** Counts what was not taken as it was. */
export interface Reasons {
  /** @param example names the record in the words of the export */
  add(code: ReasonCode, example: string): void
  /** Those that there were, the most frequent first. */
  list(): Array<{ code: ReasonCode; outcome: string; count: number; what: string; remedy: string; examples: string[] }>
}

export function createReasons(): Reasons {
  const counted = new Map<ReasonCode, Counted>()
  return {
    add(code, example) {
      const found = counted.get(code) ?? { count: 0, examples: [] }
      counted.set(code, found)
      found.count++
      if (found.examples.length < examplesOfEach) found.examples.push(example.slice(0, 500))
    },
    list: () =>
      [...counted]
        .sort(([, one], [, other]) => other.count - one.count)
        .map(([code, { count, examples }]) => ({ code, ...reasons[code], count, examples })),
  }
}
