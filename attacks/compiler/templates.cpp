// Twice as many types at each step, and errors that quote them all.
template <int N, class T, class U> struct Deep {
    typename Deep<N - 1, Deep<N - 1, T, U>, T>::type a;
    typename Deep<N - 1, U, Deep<N - 1, U, T>>::type b;
    typedef Deep type;
};
template <class T, class U> struct Deep<0, T, U> { typedef T type; };
int main() { Deep<800, int, char>::type x; return x; }
