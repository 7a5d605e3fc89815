// Pi by the area under a curve: C++ overloads of the type-generic names.
#include <shmem.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <new>

// An array in the memory of every PE. Making and destroying one is collective.
template <typename T> class Symmetric {
public:
    explicit Symmetric(std::size_t length)
        : data_(static_cast<T *>(shmem_calloc(length, sizeof(T))))
    {
        if (!data_)
            throw std::bad_alloc();
    }
    ~Symmetric() { shmem_free(data_); }
    Symmetric(const Symmetric &) = delete;
    Symmetric &operator=(const Symmetric &) = delete;
    T *data() { return data_; }
    T &operator[](std::size_t i) { return data_[i]; }

private:
    T *data_;
};

static double area(long steps)
{
    Symmetric<double> part(1), whole(1);
    const int me = shmem_my_pe(), pes = shmem_n_pes();
    for (long i = me; i < steps; i += pes) {
        const double x = (i + 0.5) / steps;
        part[0] += 4.0 / (1.0 + x * x) / steps;
    }
    shmem_sum_reduce(SHMEM_TEAM_WORLD, whole.data(), part.data(), 1);
    return whole[0];
}

int main(int argc, char **argv)
{
    shmem_init();
    const long steps = argc > 1 ? std::atol(argv[1]) : 1000000;
    const double pi = area(steps > 0 ? steps : 1);
    if (shmem_my_pe() == 0)
        std::printf("pi is %.12f, %.1e off\n", pi, std::fabs(pi - M_PI));
    shmem_finalize();
    return 0;
}
