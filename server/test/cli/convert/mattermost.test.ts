import { readFile, rm } from 'node:fs/promises'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { dataOf } from '../../support/chat.ts'
import { createGround, type Ground, imported, saidIn } from './ground.ts'

const at = (second: number) => (1_600_000_000 + second) * 1000
const lines = (...objects: object[]) => objects.map((object) => `${JSON.stringify(object)}\n`).join('')
const inTown = { team: 'acme', channel: 'town' }
const post = (second: number, user: string, message: string, more: object = {}) => {
  return { type: 'post', post: { ...inTown, user, message, create_at: at(second), ...more } }
}
const user = (username: string, more: object = {}) => {
  const channels = [{ name: 'town', roles: username === 'anna' ? 'channel_user channel_admin' : 'channel_user' }]
  return {
    type: 'user',
    user: { username, email: `${username}@acme.example`, teams: [{ name: 'acme', channels }], ...more },
  }
}

async function putExport(ground: Ground): Promise<void> {
  await ground.put('data/20200914/a/plan.pdf', 'the plan')
  await ground.put('secret.txt', 'of this machine')
  await ground.put(
    'export.jsonl',
    lines(
      { type: 'version', version: 1 },
      {
        type: 'channel',
        channel: { ...inTown, name: 'town', display_name: 'Town Square', type: 'O', header: 'Hello' },
      },
      user('anna', { nickname: 'Anna', position: 'Boss' }),
      user('bo.dan'),
      user('carl', { first_name: 'Carl', last_name: 'Older', delete_at: at(50) }),
      { type: 'bot', bot: { username: 'hal', owner: 'anna', display_name: 'Hal' } },
      { type: 'direct_channel', direct_channel: { members: ['anna', 'bo.dan', 'carl'] } },
      // Later than the next one, and with replies of its own time.
      post(30, 'anna', 'Ask @bo.dan. Or @nobody, not mail@bo.dan :wave:', {
        reactions: [
          { user: 'carl', emoji_name: '+1', create_at: at(31) },
          { user: 'bo.dan', emoji_name: '+1', create_at: at(32) },
        ],
        replies: [
          { user: 'bo.dan', message: 'Me?', create_at: at(40), edit_at: at(45) },
          { user: 'hal', message: 'Beep', create_at: at(41) },
        ],
        is_pinned: true,
        flagged_by: ['carl'],
      }),
      post(10, 'carl', 'First'),
      post(10, 'carl', 'The same person in the same millisecond'),
      post(11, 'anna', 'anna joined', { type: 'system_join_channel' }),
      post(35, 'anna', 'Files', { attachments: [{ path: '20200914/a/plan.pdf' }, { path: '../secret.txt' }] }),
      {
        type: 'direct_post',
        direct_post: { channel_members: ['bo.dan', 'anna'], user: 'anna', message: 'Psst', create_at: at(5) },
      },
      {
        type: 'direct_post',
        direct_post: {
          channel_members: ['anna', 'carl', 'bo.dan'],
          user: 'carl',
          message: 'We three',
          create_at: at(6),
        },
      },
      {
        type: 'direct_post',
        direct_post: { channel_members: ['anna'], user: 'anna', message: 'To me', create_at: at(7) },
      },
    ),
  )
}

describe('parley convert mattermost', () => {
  it('makes a folder that is imported whole, with files that are in the export and no others', async () => {
    const ground = await createGround()
    await putExport(ground)
    const { code, err } = await ground.convert('mattermost', '--files', 'https://files.acme.example/old/')
    expect([code, err]).toEqual([0, ''])
    expect(await ground.reasons()).toEqual({
      'conversation-with-oneself': 1,
      'direct-group': 1,
      'file-not-in-export': 1,
      'pinned-message': 1,
      'saved-message': 1,
      'system-message': 1,
    })
    expect(await readFile(path.join(ground.output, 'files/20200914/a/plan.pdf'), 'utf8')).toBe('the plan')
    const world = await imported(ground)
    const town = await saidIn(world, '/groups/town', 'anna')
    expect(town.map(({ sender, data }: { sender: string; data: { text: string } }) => [sender, data.text])).toEqual([
      ['carl', 'First'],
      ['carl', 'The same person in the same millisecond'],
      ['anna', 'Ask <@uid:bo-dan>. Or @nobody, not mail@bo.dan 👋'],
      ['anna', 'Files\n[secret.txt]'],
    ])
    const [, , asked, files] = town
    expect(asked).toMatchObject({
      ...{ replyCount: 2, data: { reactions: [{ reaction: '👍', count: 2 }] } },
      ...{ pinnedBy: 'app_system', pinnedAt: 1_600_000_030 },
    })
    const given = dataOf(await world.get(`/messages/${asked.id}/reactions`))
    expect(given.map(({ uid, reactedAt }: { uid: string; reactedAt: number }) => [uid, reactedAt])).toEqual([
      ['carl', 1_600_000_031],
      ['bo-dan', 1_600_000_032],
    ])
    const records = await ground.records('messages')
    expect(records.flatMap(({ savedBy }) => savedBy ?? [])).toEqual([{ carl: 1_600_000_030 }])
    const url = 'https://files.acme.example/old/20200914/a/plan.pdf'
    expect(files.data.attachments).toEqual([
      { name: 'plan.pdf', extension: 'pdf', mimeType: 'application/pdf', size: 8, url },
    ])
    const replies = dataOf(await world.get(`/messages/${asked.id}/thread`, { as: 'anna' }))
    expect(replies.map(({ data }: { data: { text: string } }) => data.text)).toEqual(['Me?', 'Beep'])
    expect(replies[0].editedAt).toBe(1_600_000_045)
    expect(await saidIn(world, '/users/anna', 'bo-dan')).toMatchObject([{ data: { text: 'Psst' } }])
    expect(dataOf(await world.get('/groups/town'))).toMatchObject({ name: 'Town Square', membersCount: 2 })
    const members = dataOf(await world.get('/groups/town/members'))
    expect(members.find(({ uid }: { uid: string }) => uid === 'anna').scope).toBe('admin')
    expect(dataOf(await world.get('/users/carl'))).toMatchObject({ name: 'Carl Older', deactivatedAt: 1_600_000_050 })
    const texts = records.map(({ data }) => data.text)
    expect(texts).toEqual(expect.arrayContaining(['We three', 'To me']))
  })

  it('follows no link out of the export', async () => {
    const ground = await createGround()
    await putExport(ground)
    await ground.put('../elsewhere/a/plan.pdf', 'of this machine')
    await ground.link('data/20200914/a/plan.pdf', '../elsewhere/a/plan.pdf')
    expect((await ground.convert('mattermost', '--files', 'https://files.acme.example')).code).toBe(0)
    expect(await ground.reasons()).toMatchObject({ 'file-not-in-export': 2 })
    await expect(readFile(path.join(ground.output, 'files/20200914/a/plan.pdf'))).rejects.toThrow('ENOENT')
    await ground.link('data/20200914', '../elsewhere')
    await rm(ground.output, { recursive: true })
    expect((await ground.convert('mattermost', '--files', 'https://files.acme.example')).code).toBe(0)
    expect(await ground.reasons()).toMatchObject({ 'file-not-in-export': 2 })
  })

  it('keeps the names of files where no address is given', async () => {
    const ground = await createGround()
    await putExport(ground)
    expect((await ground.convert('mattermost')).code).toBe(0)
    expect(await ground.reasons()).toMatchObject({ 'file-without-address': 2 })
    const texts = (await ground.records('messages')).map(({ data }) => data.text)
    expect(texts).toContain('Files\n[plan.pdf]\n[secret.txt]')
  })

  it('takes hostile names and values for what they are', async () => {
    const ground = await createGround()
    const dots = '.'.repeat(100_000)
    await ground.put('data/of-the-export.txt', 'in the export')
    await ground.put(
      'export.jsonl',
      lines(
        { type: 'channel', channel: { ...inTown, name: 'town', display_name: 'x'.repeat(300), type: 'O' } },
        { type: 'channel', channel: null },
        user('__proto__', { nickname: 7, teams: [null, { name: 'acme', channels: [null, 7, { name: {} }] }] }),
        user('constructor'),
        { type: 'user', user: { username: { toString: 'no' } } },
        { type: 'direct_channel', direct_channel: null },
        { type: 'something of a later version' },
        post(1, '__proto__', `hello @constructor, @${dots}a and @${'._-'.repeat(30_000)}`, {
          reactions: [null, { user: 7, emoji_name: 'x' }, { user: 'constructor', emoji_name: '__proto__' }],
          attachments: [
            null,
            { path: 'of-the-export.txt\u0000.png' },
            { path: ['..', 'secret.txt'] },
            { path: '/etc/passwd' },
          ],
          replies: [null, 'no reply', { user: 'constructor', message: { text: 'no text' }, create_at: 'soon' }],
          flagged_by: ['constructor', 7],
        }),
        post(2, 'constructor', 'in a channel that is not there', { channel: 'elsewhere' }),
        post(3, 'constructor', 'of no time', { create_at: 1e300 }),
        post(4, 'constructor', 'at a time that is yet to come', { create_at: 9_999_999_999_000 }),
        { type: 'post', post: null },
        { type: 'direct_post', direct_post: null },
      ),
    )
    const { code, err } = await ground.convert('mattermost', '--files', 'https://files.acme.example')
    expect([code, err]).toEqual([0, ''])
    // Six that have no channel, people or time, one of the future, and the part of a text that names a file with NUL in its name.
    expect(await ground.reasons()).toMatchObject({
      'file-not-in-export': 3,
      'shortened-name': 1,
      'record-not-valid': 8,
    })
    const world = await imported(ground)
    const [said, ...others] = await saidIn(world, '/groups/town', 'constructor')
    // The text goes on in further messages.
    expect(others.every(({ data }: { data: { text: string } }) => /^[.and @_-]+$/.test(data.text))).toBe(true)
    expect(said).toMatchObject({ sender: '__proto__', data: { reactions: [{ reaction: ':__proto__:', count: 1 }] } })
    expect(said.data.text.slice(0, 30)).toBe('hello <@uid:constructor>, @...')
  })

  it('has what integrations show, and lines that end nowhere but at their end', async () => {
    const ground = await createGround()
    await putExport(ground)
    const build = { attachments: [{ title: 'Build 7', text: 'red' }] }
    const before = await readFile(path.join(ground.folder, 'export.jsonl'), 'utf8')
    const more = lines(post(900, 'anna', '', { props: build }), post(901, 'anna', 'one\u2028two', { props: build }))
    await ground.put('export.jsonl', before + more)
    expect(await ground.convert('mattermost')).toMatchObject({ code: 0 })
    const texts = (await ground.records('messages')).map(({ data }) => data?.text)
    expect(texts).toEqual(expect.arrayContaining(['Build 7\nred', 'one\u2028two\nBuild 7\nred']))
  })

  it('names the line that is damaged', async () => {
    const ground = await createGround()
    await ground.put('export.jsonl', `${lines({ type: 'version', version: 1 })}{"type": "po`)
    const { code, err } = await ground.convert('mattermost')
    expect([code, err]).toEqual([1, expect.stringContaining('export.jsonl, line 2: not a JSON object')])
  })
})
