import { Component, type ReactNode } from 'react'

interface BoundaryProps {
  /** What is drawn: another one is tried again. */
  readonly of: unknown
  readonly instead: ReactNode
  readonly children: ReactNode
}

interface BoundaryState {
  readonly of: unknown
  readonly hasFailed: boolean
}

/** Draws something else where its children cannot be drawn, so that they take nothing else with them. React logs why. */
export class Boundary extends Component<BoundaryProps, BoundaryState> {
  override state: BoundaryState = { of: this.props.of, hasFailed: false }

  static getDerivedStateFromError(): Partial<BoundaryState> {
    return { hasFailed: true }
  }

  static getDerivedStateFromProps({ of }: BoundaryProps, state: BoundaryState): BoundaryState | null {
    return of === state.of ? null : { of, hasFailed: false }
  }

  override render(): ReactNode {
    return this.state.hasFailed ? this.props.instead : this.props.children
  }
}
