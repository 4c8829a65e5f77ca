import { type Group, owner, type Person } from './model.ts'
import { type Stage, wrong } from './stage.ts'

/** Somebody joins the public group, or leaves it. */
export async function joinOrLeave(stage: Stage, what: 'join' | 'leave', by: Person) {
  const path = '/groups/team/members'
  const isMember = stage.model.members.team.has(by)
  const may = what === 'join' ? !isMember && !stage.model.banned.team.has(by) : isMember
  const answer = await stage.service.call(what === 'join' ? 'POST' : 'DELETE', path, {}, { as: by })
  if (may && answer.status === 200) {
    await stage.event('team', by, [], (since) => {
      if (what === 'join') stage.model.enter('team', by, since)
      else stage.model.members.team.delete(by)
    })
    stage.told.push(`group_member_${what === 'join' ? 'joined' : 'left'} team ${by}`)
  }
  return wrong(answer, may ? 'must' : 'must not')
}

/** The owner governs a group; the app adds. */
export async function govern(stage: Stage, what: 'add' | 'kick' | 'ban' | 'unban', whom: Person, group: Group) {
  const { members, banned } = stage.model
  const isMember = members[group].has(whom)
  const isBanned = banned[group].has(whom)
  const may = { add: !isMember && !isBanned, kick: isMember, ban: !isBanned, unban: isBanned }[what]
  const path = what === 'kick' || what === 'add' ? `/groups/${group}/members` : `/groups/${group}/bannedusers/${whom}`
  const answer =
    what === 'add'
      ? await stage.service.post(path, { participants: [whom] })
      : what === 'kick'
        ? await stage.service.delete(`${path}/${whom}`, undefined, { as: owner })
        : await stage.service.call(what === 'ban' ? 'POST' : 'DELETE', path, undefined, { as: owner })
  const isDone = what === 'add' ? answer.body.data?.participants?.[whom]?.success === true : answer.status === 200
  if (isDone !== may) return `${what}: ${JSON.stringify(answer.body)}`
  if (!may) return
  // Whoever is sent away hears of it, as the last thing from there.
  const also = isMember ? [whom] : []
  await stage.event(group, what === 'add' ? 'app_system' : owner, also, (since) => {
    if (what === 'add') stage.model.enter(group, whom, since)
    if (what === 'kick' || what === 'ban') members[group].delete(whom)
    if (what === 'ban') banned[group].add(whom)
    if (what === 'unban') banned[group].delete(whom)
  })
  const word = { add: 'added', kick: 'kicked', ban: 'banned', unban: 'unbanned' }[what]
  stage.told.push(`group_member_${word} ${group} ${whom}`)
  return
}

/** The owner gives a member another scope. */
export async function promote(stage: Stage, whom: Person, group: Group, scope: 'moderator' | 'participant') {
  const membership = stage.model.members[group].get(whom)
  const may = membership !== undefined && membership.scope !== scope
  const answer = await stage.service.put(`/groups/${group}/members/${whom}`, { scope }, { as: owner })
  if (may && answer.status === 200) {
    await stage.event(group, owner, [], () => {
      membership.scope = scope
      stage.heard.rulesChanged()
    })
    stage.told.push(`group_member_scope_changed ${group} ${whom}`)
  }
  return wrong(answer, may ? 'must' : 'must not')
}
