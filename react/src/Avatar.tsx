import { useParleyContext } from './context.tsx'
import type { AvatarProps } from './props.ts'

/** A picture of somebody, or the first letter of their name. */
export function Avatar(props: AvatarProps) {
  const { components } = useParleyContext()
  const Own = components.Avatar ?? DefaultAvatar
  return <Own {...props} />
}

/** Hidden from screen readers: the name always stands beside it. */
function DefaultAvatar({ name, src, isOnline = false }: AvatarProps) {
  const [first = '?'] = name
  return (
    <span className="parley-avatar" aria-hidden="true" data-online={isOnline || undefined}>
      {src === undefined ? first.toUpperCase() : <img src={src} alt="" loading="lazy" />}
    </span>
  )
}
